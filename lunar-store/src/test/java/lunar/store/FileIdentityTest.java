package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.DeviceRecords;
import lunar.block.Devices;
import lunar.block.Identity;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the identity of a file's disk does not depend on the file's name, and that copies differ. */
class FileIdentityTest {
    @TempDir
    Path folder;
    private Path file;

    @BeforeEach
    void name() { file = folder.resolve("disk.img"); }

    private static UUID opened(Path path, String options) throws Exception {
        try (BlockDevice device = Devices.open("file:" + path + options)) {
            return device.identity().uuid();
        }
    }

    private static UUID opened(Path path) throws Exception { return opened(path, ""); }

    private UUID created(Path path) throws Exception { return opened(path, "?size=1MiB"); }

    @Test
    void shouldStayWithTheFileThatIsRenamed() throws Exception {
        UUID before = created(file);
        Path other = Files.move(file, folder.resolve("renamed.img"));
        assertThat(opened(other)).isEqualTo(before);
        assertThat(opened(other, "?read-only=true")).isEqualTo(before);
        assertThat(opened(Files.createLink(folder.resolve("link"), other))).isEqualTo(before);
    }

    @Test
    void shouldDifferFromAnotherFileAtTheSamePath() throws Exception {
        UUID before = created(file);
        Files.delete(file);
        assertThat(created(file)).isNotEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--", "-a", "--preserve=all", "--reflink=auto"})
    void shouldNotBeCopiedWithTheContent(String how) throws Exception {
        UUID original = created(file);
        Path copy = folder.resolve("copy.img");
        LoopDisk.run(List.of("cp", how, file.toString(), copy.toString()));
        UUID copied = opened(copy);
        assertThat(copied).isNotEqualTo(original);
        assertThat(opened(copy)).as("made once").isEqualTo(copied);
        Files.move(copy, file, StandardCopyOption.REPLACE_EXISTING);
        assertThat(opened(file)).as("in the place of the original").isEqualTo(copied);
    }

    @Test
    void shouldStayWhenTheContentIsWrittenOver() throws Exception {
        UUID before = created(file);
        Files.write(file, new byte[2 << 20]);
        assertThat(opened(file)).isEqualTo(before);
    }

    @Test
    void shouldBeStableWhereNothingMayBeWritten() throws Exception {
        Files.write(file, new byte[1 << 20]);
        UUID first = opened(file, "?read-only=true");
        assertThat(opened(file, "?read-only=true")).isEqualTo(first);
        Path copy = Files.copy(file, folder.resolve("copy.img"));
        assertThat(opened(copy, "?read-only=true")).isNotEqualTo(first);
        assumeTrue(LinuxFile.isAvailable());
        Path other = Files.move(file, folder.resolve("renamed.img"));
        assertThat(opened(other, "?read-only=true")).isEqualTo(first);
    }

    private static UUID opened(Path path, String options, DeviceRecords records)
            throws Exception {
        try (BlockDevice device = Devices.open("file:" + path + options, records)) {
            return device.identity().uuid();
        }
    }

    /** A file system without extended attributes looks like this: the label is not there. */
    private void removeLabel(Path path) throws Exception {
        assumeTrue(Files.getFileStore(path).supportsFileAttributeView("user"));
        Files.getFileAttributeView(path, UserDefinedFileAttributeView.class)
                .delete("lunar.identity");
    }

    @Test
    void shouldBeKeptByRecordsWhereTheFileCannotBeLabelled() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        var records = new ServedRecords();
        Files.write(file, new byte[1 << 20]);
        UUID said = UUID.fromString("0f8fad5b-d9cb-469f-a165-70867728950e");
        assertThat(opened(file, "?read-only=true&identity=" + said, records)).isEqualTo(said);
        Path other = Files.move(file, folder.resolve("renamed.img"));
        assertThat(opened(other, "?read-only=true", records)).isEqualTo(said);
        assertThat(opened(other, "?read-only=true", new ServedRecords())).isNotEqualTo(said);
        assertThat(opened(other, "", records)).as("and labelled once it may be").isEqualTo(said);
        assertThat(opened(other)).isEqualTo(said);
    }

    @Test
    void shouldStayWhenTheFileCanBeLabelledOrRecordedLater() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        Files.write(file, new byte[1 << 20]);
        UUID first = opened(file, "?read-only=true");
        var records = new ServedRecords();
        assertThat(opened(file, "?read-only=true", records)).as("recorded").isEqualTo(first);
        assertThat(opened(file, "", new ServedRecords())).as("labelled").isEqualTo(first);
        assertThat(opened(file)).as("from then on").isEqualTo(first);
    }

    /** As 'lunar info' does before a server of the new version has ever run. */
    @Test
    void shouldNotDeriveIdentityFromACommandThatReadsTheFileBeforeItsServer() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        Files.write(file, new byte[1 << 20]);
        UUID shown = opened(file);
        assertThat(opened(file)).isEqualTo(shown);
        var records = new ServedRecords();
        UUID ofPath = Identity.uuidOf("file:" + file.toRealPath());
        records.served.add(ofPath);
        assertThat(opened(file, "", records)).isEqualTo(ofPath);
        assertThat(opened(file)).isEqualTo(ofPath);
    }

    @Test
    void shouldInheritIdentityOfEarlierVersionOnce() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        var records = new ServedRecords();
        Files.write(file, new byte[1 << 20]);
        UUID ofPath = Identity.uuidOf("file:" + file.toRealPath());
        records.served.add(ofPath);
        assertThat(opened(file, "", records)).isEqualTo(ofPath);
        removeLabel(file);
        assertThat(opened(file, "", records)).as("cut before it was labelled").isEqualTo(ofPath);
        Files.move(file, folder.resolve("renamed.img"));
        Files.write(file, new byte[1 << 20]);
        assertThat(opened(file, "", records)).isNotEqualTo(ofPath);
        assertThat(opened(folder.resolve("renamed.img"), "", records)).isEqualTo(ofPath);
    }

    /** A server creates the directory of an identity that it serves, even if another process chose the identity. */
    @Test
    void shouldNotBeInheritedAfterTheOperatorHasGivenItToAFile() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        var records = new ServedRecords();
        Files.write(file, new byte[1 << 20]);
        UUID ofPath = Identity.uuidOf("file:" + file.toRealPath());
        assertThat(opened(file, "?identity=path", records)).isEqualTo(ofPath);
        records.served.add(ofPath);
        Path away = Files.move(file, folder.resolve("away.img"));
        Files.write(file, new byte[1 << 20]);
        assertThat(opened(file, "", records)).isNotEqualTo(ofPath);
        assertThat(opened(away, "", records)).isEqualTo(ofPath);
    }

    @Test
    void shouldFollowTheOperatorsSetting() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        UUID said = UUID.fromString("0f8fad5b-d9cb-469f-a165-70867728950e");
        created(file);
        assertThat(opened(file, "?identity=" + said)).isEqualTo(said);
        assertThat(opened(file)).as("from then on").isEqualTo(said);
        assertThatThrownBy(() -> opened(file, "?identity=disk"))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("UUID");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1", "1 ------------------------------------ 1/1.1",
            "2 0f8fad5b-d9cb-469f-a165-70867728950e 1/1.1",
            "1 0f8fad5b-d9cb-469f-a165-70867728950e 1/1.1"})
    void shouldIgnoreALabelOfAnotherUser(String text) throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        UUID before = created(file);
        try (BlockDevice device = Devices.open("file:" + file)) {
            device.labels().orElseThrow().write("identity", text);
        }
        UUID after = opened(file);
        assertThat(after).isNotEqualTo(before)
                .isNotEqualTo(UUID.fromString("0f8fad5b-d9cb-469f-a165-70867728950e"));
        assertThat(opened(file)).isEqualTo(after);
    }

    @Test
    void shouldNotCreateAFileWhereRecordsKnowADisk() throws Exception {
        var records = new ServedRecords();
        opened(file, "?size=1MiB", records);
        Path away = Files.move(file, folder.resolve("away.img"));
        Path link = Files.createSymbolicLink(folder.resolve("same"), folder);
        for (Path path : List.of(file, link.resolve("disk.img"))) {
            for (String options : List.of("", "?size=1MiB", "?read-only=true")) {
                assertThatThrownBy(() -> opened(path, options, records))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("was served").hasMessageContaining("mount");
            }
        }
        assertThat(file).doesNotExist();
        opened(file, "?size=1MiB&create=yes", records);
        assertThat(Files.exists(away)).isTrue();
    }

    @Test
    void shouldKeepTheLockOfTheFileThatIsLabelled() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        try (BlockDevice device = Devices.open("file:" + file + "?size=1MiB")) {
            device.labels().orElseThrow().write("key-check", "x");
            assertThat(Files.readString(Path.of("/proc/locks")))
                    .contains(":" + Files.getAttribute(file, "unix:ino") + " ");
        }
    }
}
