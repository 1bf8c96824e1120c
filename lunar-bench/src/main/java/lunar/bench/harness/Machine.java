package lunar.bench.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Describes the machine of the measurement, without identifying names. */
public final class Machine {
    private static final int TOOL_SECONDS = 10;

    private Machine() {}

    /**
     * @param directory for a log
     * @param commit of the Lunar that is measured
     */
    public static Map<String, String> describe(Path directory, String commit)
            throws BenchException, InterruptedException {
        var facts = new LinkedHashMap<String, String>();
        facts.put("cores", String.valueOf(Runtime.getRuntime().availableProcessors()));
        facts.put("processor", field(Path.of("/proc/cpuinfo"), "model name"));
        facts.put("memory", field(Path.of("/proc/meminfo"), "MemTotal"));
        facts.put("kernel", Processes.read(Path.of("/proc/sys/kernel/osrelease")).strip());
        facts.put("jdk", System.getProperty("java.vendor.version", "") + " "
                + Runtime.version());
        facts.put("lunar", commit);
        for (String name : List.of("tgt", "libiscsi-bin")) {
            facts.put(name, version(directory, name));
        }
        return facts;
    }

    private static String field(Path file, String name) throws BenchException {
        try {
            return Files.readAllLines(file).stream().filter(line -> line.startsWith(name))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip()).findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            throw new BenchException(file + " cannot be read", e);
        }
    }

    private static String version(Path directory, String name) throws InterruptedException {
        try {
            return Processes.run(directory.resolve("version.log"), TOOL_SECONDS,
                    List.of("dpkg-query", "-W", "-f", "${Version}", name)).strip();
        } catch (BenchException _) { // not a Debian machine
            return "unknown";
        }
    }
}
