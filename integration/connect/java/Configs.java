package rebalancecheck.connect;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The configurations that a connector gives its tasks: its own, and the number of the task. */
final class Configs {
    private static final String NAME = "name";
    private static final String NUMBER = "recording.task";

    private Configs() {}

    static List<Map<String, String>> ofTasks(Map<String, String> connector, int most) {
        int wanted = Integer.parseInt(connector.getOrDefault("recording.tasks", String.valueOf(most)));
        List<Map<String, String>> configs = new ArrayList<>();
        for (int number = 0; number < Math.min(wanted, most); number++) {
            Map<String, String> config = new HashMap<>(connector);
            config.put(NUMBER, String.valueOf(number));
            configs.add(config);
        }
        return configs;
    }

    static String connector(Map<String, String> config) {
        return config.get(NAME);
    }

    static String task(Map<String, String> config) {
        return config.get(NAME) + "-" + config.get(NUMBER);
    }
}
