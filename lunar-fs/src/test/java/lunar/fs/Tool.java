package lunar.fs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Programs of Debian that make images. Tests are skipped where they are not installed. */
final class Tool {
    private static final Map<String, String> PACKAGES = Map.of("mke2fs", "e2fsprogs", "debugfs",
            "e2fsprogs", "e2fsck", "e2fsprogs", "mkfs.vfat", "dosfstools", "mcopy", "mtools",
            "mattrib", "mtools", "mdel", "mtools", "sfdisk", "fdisk", "sgdisk", "gdisk");
    private static final String PATH = System.getenv().getOrDefault("PATH", "")
            + ":/usr/sbin:/sbin";
    private static final long END_SECONDS = 300;

    private Tool() {}

    static void assume(String... programs) {
        for (String program : programs) {
            Assumptions.assumeTrue(List.of(PATH.split(":")).stream()
                    .anyMatch(folder -> Files.isExecutable(Path.of(folder, program))),
                    program + " is not installed (Debian: " + PACKAGES.get(program) + ")");
        }
    }

    /** Runs a program to its end, which must be a good one, and returns what it printed. */
    static String run(String... command) throws IOException, InterruptedException {
        return feed("", command);
    }

    /** Runs a tool with standard input. */
    static String feed(String input, String... command) throws IOException, InterruptedException {
        assume(command[0]);
        Path output = Files.createTempFile("lunar-tool", ".log");
        try {
            var builder = new ProcessBuilder(command).redirectErrorStream(true)
                    .redirectOutput(output.toFile());
            builder.environment().put("PATH", PATH);
            builder.environment().put("LC_ALL", "C.UTF-8");
            builder.environment().put("MTOOLS_SKIP_CHECK", "1");
            Process process = builder.start();
            try (var stdin = process.getOutputStream()) {
                stdin.write(input.getBytes(StandardCharsets.UTF_8));
            }
            boolean ended = process.waitFor(END_SECONDS, TimeUnit.SECONDS);
            process.destroyForcibly();
            String printed = Files.readString(output, StandardCharsets.ISO_8859_1);
            // e2fsck ends with 1 where it has changed something
            boolean good = ended && (process.exitValue() == 0
                    || (command[0].equals("e2fsck") && process.exitValue() == 1));
            if (!good) {
                throw new AssertionError(List.of(command) + ": " + printed);
            }
            return printed;
        } finally {
            Files.delete(output);
        }
    }
}
