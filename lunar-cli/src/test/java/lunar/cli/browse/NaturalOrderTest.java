package lunar.cli.browse;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NaturalOrderTest {
    @Test
    void shouldSortNumbersByTheirValue() {
        assertThat(List.of("file10", "File9", "file2", "file", "a", "file2b", "file02",
                "99999999999999999999999", "7").stream().sorted(NaturalOrder.INSTANCE))
                .containsExactly(
                        "7", "99999999999999999999999", "a", "file", "file2", "file02", "file2b",
                        "File9", "file10");
    }
}
