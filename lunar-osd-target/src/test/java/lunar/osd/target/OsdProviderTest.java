package lunar.osd.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.Optional;
import lunar.block.DeviceRecords;
import lunar.block.DeviceUri;
import lunar.block.StorageException;
import lunar.osd.security.KeyText;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.spi.UnitSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The options of {@code osd:} URIs that are about security. */
class OsdProviderTest {
    @TempDir
    private Path directory;

    private UnitSource open(String options) throws StorageException {
        return new OsdProvider().open(
                DeviceUri.parse("osd:" + directory.resolve("store") + "?create=true" + options),
                DeviceRecords.NONE);
    }

    private Path keyFile(String mode) throws Exception {
        Path file = directory.resolve("master.key");
        Files.writeString(file, KeyText.of(SecuredFixture.MASTER));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
        return file;
    }

    private static Optional<OsdSecurity> security(UnitSource source) {
        return ((OsdSpec) source.spec(StateStore.inMemory())).security();
    }

    @Test
    void shouldHaveNoSecurityUnlessConfigured() throws Exception {
        try (UnitSource source = open("")) {
            assertThat(security(source)).isEmpty();
        }
        try (UnitSource source = open("&security=nosec")) {
            assertThat(security(source)).isEmpty();
        }
    }

    @Test
    void shouldReadMasterKey() throws Exception {
        String file = "&key-file=" + keyFile("rw-------");
        for (String name : new String[]{"capkey", "cmdrsp", "alldata"}) {
            try (UnitSource source = open("&security=" + name + file)) {
                assertThat(security(source)).contains(OsdSecurity.of(
                        SecurityMethod.valueOf(name.toUpperCase(Locale.ROOT)),
                        SecuredFixture.MASTER));
            }
        }
        try (UnitSource source = open("&security=capkey&replace-key=true" + file)) {
            assertThat(security(source).orElseThrow().replaceKey()).isTrue();
        }
    }

    @Test
    void shouldRefuseExposedOrMissingKeyFile() throws Exception {
        String file = "&security=capkey&key-file=" + keyFile("rw-r--r--");
        assertThatExceptionOfType(StorageException.class).isThrownBy(() -> open(file))
                .withMessageContaining("chmod 600").withMessageNotContaining("5a5a");
        assertThatExceptionOfType(StorageException.class)
                .isThrownBy(() -> open("&security=capkey&key-file=" + directory + "/none"))
                .withMessageContaining("none");
        assertThat(directory.resolve("store")).doesNotExist();
    }

    @Test
    void shouldRefuseOptionsThatDoNotFitTogether() throws Exception {
        String file = "&key-file=" + keyFile("rw-------");
        for (String options : new String[]{"&security=capkey", "&security=best" + file, file,
                "&replace-key=true", "&security=nosec" + file}) {
            assertThatIllegalArgumentException().isThrownBy(() -> open(options));
        }
    }
}
