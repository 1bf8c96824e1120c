package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import lunar.testkit.FreePorts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests devices that cannot be opened or reject a request: one line of output, exit status 1. */
class DeviceErrorsTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ram                      | is not a device URI
            ram:                     | ram:1GiB
            ram:1x                   | is not a size
            ram:1000                 | 1000
            ram:1MiB?block-size=1k   | block-size
            ram:1MiB?colour=red      | colour
            floppy:a                 | floppy
            iscsi://                 | iscsi://host/iqn
            iscsi://host/disk/0      | target name
            iscsi://host/iqn.2026-11.org.example:d      | no LUN
            iscsi://host/iqn.2026-11.org.example:d/x    | as the LUN, which must be a number
            iscsi://host:0/iqn.2026-11.org.example:d/0  | port 0
            """)
    void shouldReportErrorsInAUri(String uri, String words) {
        CommandRun.of("info", uri).fails(1, words);
        CommandRun.of("bench", uri, "--rw", "read").fails(1, words);
        CommandRun.of("serve", uri, "--portal", "127.0.0.1:0").fails(1, words);
    }

    @Test
    void shouldReportThatAFileDoesNotExist() {
        String file = folder.resolve("nothing.img").toString();
        CommandRun.of("info", "file:" + file).fails(1, file, "does not exist", "?size=");
        CommandRun.of("copy", file, "ram:1MiB").fails(1, file + " does not exist; check the path");
        CommandRun.of("serve", "file:" + file, "--portal", "127.0.0.1:0").fails(1, file);
    }

    @Test
    void shouldShowADiskThatIsServed() throws Exception {
        String uri = "file:" + folder.resolve("disk.img");
        var server = new ServingProcess(folder, uri + "?size=1MiB", "--portal", "127.0.0.1:0");
        try {
            assertThat(CommandRun.of("info", uri).succeeds().out())
                    .contains("1 MiB", "in use by another process; looked at without its lock")
                    .doesNotContain("supports");
            assertThat(CommandRun.of("info", uri, "--json").succeeds().out())
                    .containsPattern("\"inUse\" : true").doesNotContain("readOnly", "supports");
            CommandRun.of("copy", uri, "ram:1MiB").fails(1, "in use by another process");
        } finally {
            server.end();
        }
        assertThat(CommandRun.of("info", uri).succeeds().out()).contains("read-write");
        CommandRun.of("info", uri + "?lock=no").fails(1, "lock=no needs read-only=true");
        CommandRun.of("info", uri + "?lock=yes").fails(1, "lock=yes is not no");
        CommandRun.of("serve", uri + "?read-only=true&lock=no", "--portal", "127.0.0.1:0").fails(1,
                "cannot be used without its lock");
    }

    @Test
    void shouldReportThatADirectoryIsNotAFile() {
        CommandRun.of("info", "file:" + folder).fails(1, folder.toString(), "is a directory");
        CommandRun.of("copy", "ram:1MiB", folder.toString()).fails(1, "is a directory");
    }

    @Test
    void shouldReportAnUnknownHost() {
        CommandRun.of("discover", "nowhere.invalid").fails(1, "nowhere.invalid");
        CommandRun.of("info", "iscsi://nowhere.invalid/iqn.2026-11.org.example:d/0").fails(1,
                "nowhere.invalid");
    }

    @Test
    void shouldReportThatNothingListens() throws Exception {
        String portal = "127.0.0.1:" + FreePorts.one();
        CommandRun.of("discover", portal).fails(1, portal, "refused", "listens");
        CommandRun.of("info", "iscsi://" + portal + "/iqn.2026-11.org.example:d/0").fails(1,
                portal, "refused", "listens");
    }

    @Test
    void shouldNotWriteToWhatIsReadOnly() throws IOException {
        Path file = Files.write(folder.resolve("disk.img"), new byte[1 << 20]);
        String uri = "file:" + file + "?read-only=true";
        CommandRun.of("copy", "ram:1MiB", uri).fails(1, "read-only");
        CommandRun.of("bench", uri, "--rw", "write", "--force").fails(1, "read-only");
    }

    @Test
    void shouldReportThatAFileIsNotWritable() throws Exception {
        Path mount = mounted();
        try {
            Path file = Files.write(mount.resolve("disk.img"), new byte[8192]);
            execute("mount", "-o", "remount,ro", mount.toString());
            CommandRun.of("info", "file:" + file).fails(1, "cannot be written", "read-only=true");
            CommandRun.of("info", "file:" + file + "?read-only=true").succeeds();
        } finally {
            execute("umount", mount.toString());
        }
    }

    @Test
    void shouldReportAFullDiskAndLeaveNoPartialCopy() throws Exception {
        Path source = Files.write(folder.resolve("source.img"), filled(2 << 20));
        Path mount = mounted();
        try {
            Path copy = mount.resolve("copy.img");
            CommandRun.of("copy", source.toString(), copy.toString()).fails(1, "no space left",
                    "free some space");
            assertThat(copy).doesNotExist();
        } finally {
            execute("umount", mount.toString());
        }
    }

    private static byte[] filled(int bytes) {
        byte[] data = new byte[bytes];
        java.util.Arrays.fill(data, (byte) 0x5a);
        return data;
    }

    /** A file system of one MiB; only root can make one. */
    private Path mounted() throws Exception {
        Path mount = Files.createDirectory(folder.resolve("mount"));
        assumeTrue(execute("mount", "-t", "tmpfs", "-o", "size=1m", "none", mount.toString()),
                "a file system can be mounted here");
        return mount;
    }

    private static boolean execute(String... command) throws Exception {
        var process = new ProcessBuilder(List.of(command)).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        return process.waitFor() == 0;
    }
}
