package lunar.admin.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests which files at the path of a socket are replaced. */
@Timeout(600)
class SocketLockTest {
    /** A process that locks a file and waits, as a server that is about to listen. */
    private static final String OTHER_PROCESS = """
            import java.nio.channels.FileChannel;
            import java.nio.file.Path;
            import java.nio.file.StandardOpenOption;
            public class Other {
                public static void main(String[] args) throws Exception {
                    var channel = FileChannel.open(Path.of(args[0]), StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE);
                    channel.lock();
                    System.out.println("locked");
                    System.in.read();
                }
            }
            """;

    @TempDir
    Path folder;

    @Test
    void shouldKeepAFileThatIsNotASocket() throws Exception {
        Path image = Files.writeString(folder.resolve("disk.img"), "data");
        Path link = Files.createSymbolicLink(folder.resolve("link"), image);
        for (Path path : List.of(image, link, Files.createDirectory(folder.resolve("directory")))) {
            assertThatThrownBy(() -> SocketLock.acquire(path)).isInstanceOf(IOException.class)
                    .hasMessageContaining(path + " exists and is not a socket");
            assertThat(path).exists();
        }
        assertThat(folder.resolve("disk.img.lock")).doesNotExist();
        Path other = Files.writeString(folder.resolve("disk.lock"), "data");
        SocketLock.acquire(folder.resolve("disk")).close();
        assertThat(other).hasContent("data");
        assertThat(image).hasContent("data");
        assertThat(link).isSymbolicLink();
    }

    @Test
    void shouldRemoveTheSocketOfAKilledServer() throws Exception {
        Path socket = folder.resolve("admin.sock");
        try (var killed = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            killed.bind(UnixDomainSocketAddress.of(socket));
            assertThatThrownBy(() -> SocketLock.acquire(socket))
                    .hasMessageContaining("another server");
            assertThat(socket).exists();
        }
        try (var _ = SocketLock.acquire(socket)) {
            assertThat(socket).doesNotExist();
        }
    }

    @Test
    void shouldBeExclusive() throws Exception {
        Path socket = folder.resolve("admin.sock");
        try (var _ = SocketLock.acquire(socket)) {
            assertThatThrownBy(() -> SocketLock.acquire(socket))
                    .hasMessageContaining("another server has the admin socket");
        }
        SocketLock.acquire(socket).close();
        assertThat(folder).isEmptyDirectory();
        Path program = Files.writeString(folder.resolve("Other.java"), OTHER_PROCESS);
        Process other = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                program.toString(), socket + ".lock").redirectErrorStream(true).start();
        try (var out = other.inputReader()) {
            assertThat(out.readLine()).isEqualTo("locked");
            assertThatThrownBy(() -> SocketLock.acquire(socket))
                    .hasMessageContaining("another server has the admin socket");
        } finally {
            other.destroyForcibly();
        }
        assertThat(other.waitFor(120, TimeUnit.SECONDS)).isTrue();
        SocketLock.acquire(socket).close();
    }

    @Test
    void shouldRefuseADirectoryWhereOthersCanReplaceTheSocket() throws Exception {
        Path open = Files.createDirectory(folder.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThatThrownBy(() -> SocketLock.acquire(open.resolve("admin.sock")))
                .hasMessageContaining("other users can replace").hasMessageContaining("chmod o-w");
        Files.setAttribute(open, "unix:mode", 01777);
        SocketLock.acquire(open.resolve("admin.sock")).close();
    }
}
