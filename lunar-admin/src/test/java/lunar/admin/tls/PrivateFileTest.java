package lunar.admin.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateFileTest {
    @TempDir
    Path folder;

    @Test
    void shouldRefuseAKeyThatOthersCanAccess() throws Exception {
        Path certificate = TestCertificates.in(folder).file("server.pem");
        Path key = folder.resolve("server.key");
        assertThat(PrivateFile.certifiedKey(certificate, key).problem(
                Instant.now(), Duration.ZERO)).isEmpty();
        for (String mode : new String[]{"rw-r-----", "rw--w----", "rw----r--", "rw-----w-"}) {
            Files.setPosixFilePermissions(key, PosixFilePermissions.fromString(mode));
            assertThatIOException()
                    .isThrownBy(() -> PrivateFile.certifiedKey(certificate, key))
                    .withMessage("the key file " + key
                            + " can be accessed by other users: chmod 600 " + key);
        }
    }
}
