package lunar.rdma.libfabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.Optional;
import lunar.rdma.LayoutText;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LayoutsTest {
    @Test
    void shouldMatchLayoutsOfLibfabric117() {
        assertThat(LayoutText.of(Layouts.ALL))
                .isEqualTo(LayoutText.resource("libfabric-layout.txt"));
    }

    @Test
    void shouldMatchInstalledHeaders(@TempDir Path folder) throws Exception {
        Optional<String> printed = LayoutText.run("libfabric-layout.c", folder);
        if (printed.isEmpty()) {
            System.out.println("layouts are not compared with C: no gcc, or no headers of "
                    + "libfabric (Debian: apt-get install gcc libfabric-dev)");
        }
        assumeTrue(printed.isPresent());
        assertThat(LayoutText.of(Layouts.ALL)).isEqualTo(printed.get());
    }
}
