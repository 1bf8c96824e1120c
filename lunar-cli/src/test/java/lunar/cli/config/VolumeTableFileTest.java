package lunar.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import lunar.cli.command.Failure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests how a config file is replaced. */
class VolumeTableFileTest {
    private static final String ONE = """
            [[volume]]
            name = "one"
            members = ["file:x", "file:y"]
            """;
    private static final String TWO = ONE.replace("one", "two");

    @TempDir
    Path folder;

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void shouldKeepTheModeAndTheLink() throws Exception {
        Path file = Files.writeString(Files.createDirectory(folder.resolve("etc"))
                .resolve("lunar.toml"), ONE + TWO);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        Path link = Files.createSymbolicLink(folder.resolve("link.toml"), file);
        Path left = Files.writeString(folder.resolve(".lunar1.toml"), "[[volu"); // of a process that was killed
        new VolumeTableFile(link).remove("one");
        assertThat(link).isSymbolicLink();
        assertThat(Files.readString(file)).isEqualTo(TWO);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-r-----");
        assertThat(names()).containsExactly(".lunar1.toml", "etc", "link.toml");
        assertThat(Files.readString(left)).isEqualTo("[[volu");
    }

    @Test
    void shouldLeaveTheFileIfTheNewOneWouldBeWrong() throws Exception {
        String wrong = ONE + TWO + TWO;
        Path file = Files.writeString(folder.resolve("lunar.toml"), wrong);
        assertThatThrownBy(() -> new VolumeTableFile(file).remove("one"))
                .isInstanceOf(Failure.class);
        assertThat(Files.readString(file)).isEqualTo(wrong);
        assertThat(names()).containsExactly("lunar.toml");
    }
}
