package lunar.rdma.verbs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.StructLayout;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The layouts and constants that Java assumes are those of the C headers, as {@code layouts.c} prints them. */
class LayoutsTest {
    private static final List<Class<?>> ALLOCATED = List.of(WorkLayouts.class,
            AttributeLayouts.class, LibcLayouts.class);
    private static final List<Class<?>> FOREIGN = List.of(ObjectLayouts.class, CmLayouts.class);

    @TempDir
    Path dir;

    @Test
    void shouldAssumeTheLayoutsThatWereRecorded() throws Exception {
        assertThat(assumed()).isEqualTo(lines(resource("layouts.txt")));
    }

    @Test
    void shouldAssumeTheLayoutsOfTheHeadersThatAreInstalled() throws Exception {
        assumeTrue(succeeds("gcc", "--version"), "no gcc");
        Path source = dir.resolve("layouts.c");
        Files.writeString(source, resource("layouts.c"));
        Path headers = dir.resolve("headers.c");
        Files.writeString(headers,
                "#include <rdma/rdma_cma.h>\n#include <infiniband/verbs.h>\n");
        assumeTrue(succeeds("gcc", "-fsyntax-only", headers.toString()),
                "no headers: libibverbs-dev and librdmacm-dev");
        Path program = dir.resolve("layouts");
        Process compiler = start("gcc", "-o", program.toString(), source.toString());
        assertThat(compiler.waitFor()).as(output(compiler)).isZero();
        assertThat(assumed()).isEqualTo(lines(output(start(program.toString()))));
    }

    /** What the program would print if Java were right, in any order. */
    private static Map<String, String> assumed() throws IllegalAccessException {
        Map<String, String> lines = new TreeMap<>();
        for (StructLayout struct : structs(ALLOCATED)) {
            lines.put("size " + struct.name().orElseThrow(), String.valueOf(struct.byteSize()));
            describe(struct, lines);
        }
        for (StructLayout struct : structs(FOREIGN)) {
            describe(struct, lines);
        }
        for (Field field : Constants.class.getDeclaredFields()) {
            lines.put("constant " + field.getName(), String.valueOf(field.getInt(null)));
        }
        return lines;
    }

    private static List<StructLayout> structs(List<Class<?>> holders)
            throws IllegalAccessException {
        List<StructLayout> structs = new ArrayList<>();
        for (Class<?> holder : holders) {
            for (Field field : holder.getDeclaredFields()) {
                if (field.getType() == StructLayout.class) {
                    structs.add((StructLayout) field.get(null));
                }
            }
        }
        return structs;
    }

    private static void describe(StructLayout struct, Map<String, String> lines) {
        String name = struct.name().orElseThrow();
        for (MemoryLayout member : struct.memberLayouts()) {
            if (!(member instanceof PaddingLayout)) {
                String field = member.name().orElseThrow();
                lines.put("field " + name + "." + field,
                        struct.byteOffset(PathElement.groupElement(field)) + " "
                                + member.byteSize());
            }
        }
    }

    private static Map<String, String> lines(String text) {
        Map<String, String> lines = new TreeMap<>();
        text.lines().forEach(line -> {
            int end = line.indexOf(' ', line.indexOf(' ') + 1);
            lines.put(line.substring(0, end), line.substring(end + 1));
        });
        return lines;
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = LayoutsTest.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), UTF_8);
        }
    }

    private static boolean succeeds(String... command) throws InterruptedException {
        try {
            Process process = start(command);
            String _ = output(process);
            return process.waitFor() == 0;
        } catch (IOException _) {
            return false;
        }
    }

    private static Process start(String... command) throws IOException {
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static String output(Process process) throws IOException {
        try (InputStream in = process.getInputStream()) {
            return new String(in.readAllBytes(), UTF_8);
        }
    }
}
