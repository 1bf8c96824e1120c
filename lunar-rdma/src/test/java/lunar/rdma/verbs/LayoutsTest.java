package lunar.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.StructLayout;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lunar.rdma.LayoutText;
import lunar.rdma.posix.AddressLayouts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares the layouts and constants of this package with the C headers, as {@code verbs-layout.c} prints them. */
class LayoutsTest {
    private static final List<Class<?>> ALLOCATED = List.of(WorkLayouts.class,
            AttributeLayouts.class, AddressLayouts.class);
    private static final List<Class<?>> FOREIGN = List.of(ObjectLayouts.class, CmLayouts.class);

    @Test
    void shouldMatchRecordedLayouts() throws Exception {
        assertThat(assumed()).isEqualTo(lines(LayoutText.resource("verbs-layout.txt")));
    }

    @Test
    void shouldMatchInstalledHeaders(@TempDir Path folder)
            throws Exception {
        Optional<String> printed = LayoutText.run("verbs-layout.c", folder);
        if (printed.isEmpty()) {
            System.out.println("layouts are not compared with C: no gcc, or no headers of verbs"
                    + " (Debian: apt-get install gcc libibverbs-dev librdmacm-dev)");
        }
        assumeTrue(printed.isPresent());
        assertThat(assumed()).isEqualTo(lines(printed.get()));
    }

    /** Returns the lines that the program prints if all layouts and constants match; in any order. */
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
        lines.put("constant AF_INET", String.valueOf(AddressLayouts.AF_INET));
        lines.put("constant AF_INET6", String.valueOf(AddressLayouts.AF_INET6));
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
}
