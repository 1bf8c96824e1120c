package lunar.rdma;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.StructLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Describes the layouts of structs as text, by Java and by a C program in the test resources. */
public final class LayoutText {
    private LayoutText() {}

    /** Describes layouts in the format of the C program. */
    public static String of(Collection<StructLayout> structs) {
        var text = new StringBuilder();
        for (StructLayout struct : structs) {
            text.append("struct ").append(struct.name().orElseThrow()).append('\n');
            for (MemoryLayout member : struct.memberLayouts()) {
                if (!(member instanceof PaddingLayout)) {
                    String name = member.name().orElseThrow();
                    text.append("  ").append(name).append(' ')
                            .append(struct.byteOffset(
                                    MemoryLayout.PathElement.groupElement(name)))
                            .append(' ').append(member.byteSize()).append('\n');
                }
            }
        }
        return text.toString();
    }

    /** Returns the contents of a file in the test resources. */
    public static String resource(String name) {
        try (var in = Objects.requireNonNull(LayoutText.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the output of a C program in the test resources; empty if the compiler or the headers are missing. */
    public static Optional<String> run(String source, Path folder)
            throws IOException, InterruptedException {
        Path file = folder.resolve(source);
        Files.writeString(file, resource(source));
        Path program = folder.resolve("program");
        try {
            if (output(folder, "gcc", "-o", program.toString(), file.toString()).isEmpty()) {
                return Optional.empty();
            }
        } catch (IOException e) {
            return Optional.empty(); // no gcc
        }
        return output(folder, program.toString());
    }

    private static Optional<String> output(Path folder, String... command)
            throws IOException, InterruptedException {
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(output.toFile()).start();
        if (!process.waitFor(5, TimeUnit.MINUTES)) {
            process.destroyForcibly();
            throw new IOException(command[0] + " does not end");
        }
        return process.exitValue() == 0
                ? Optional.of(Files.readString(output))
                : Optional.empty();
    }
}
