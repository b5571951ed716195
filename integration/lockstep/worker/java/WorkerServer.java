package rebalancecheck.worker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.connect.runtime.distributed.SteppedHerder;

/**
 * Reads a step on each line (JSON), performs it on the WorkerCoordinator that it names, and writes what could be
 * observed on one line.
 */
public final class WorkerServer {
    private static final ObjectMapper JSON = new ObjectMapper();

    private WorkerServer() {
    }

    public static void main(String[] args) throws Exception {
        HeartbeatSteps.install();
        SteppedHerder.install();
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Map<String, WorkerRun> runs = new HashMap<>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode step = JSON.readTree(line);
            String worker = step.path("run").asText() + " " + step.path("worker").asText("w");
            if (step.get("do").asText().equals("reset")) {
                runs.put(worker, new WorkerRun(step));
            } else {
                runs.get(worker).perform(step);
            }
            out.println(JSON.writeValueAsString(runs.get(worker).observe()));
            out.flush();
        }
    }
}
