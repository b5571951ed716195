package rebalancecheck.worker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Reads a step on each line (JSON), performs it on a WorkerCoordinator and writes what could be observed on one line. */
public final class WorkerServer {
    private static final ObjectMapper JSON = new ObjectMapper();

    private WorkerServer() {
    }

    public static void main(String[] args) throws Exception {
        HeartbeatSteps.install();
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        WorkerRun run = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode step = JSON.readTree(line);
            if (step.get("do").asText().equals("reset")) {
                run = new WorkerRun(step);
            } else {
                run.perform(step);
            }
            out.println(JSON.writeValueAsString(run.observe()));
            out.flush();
        }
    }
}
