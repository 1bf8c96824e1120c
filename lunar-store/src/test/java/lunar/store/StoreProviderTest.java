package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.NoSpaceException;
import lunar.block.OtherSizeException;
import lunar.filter.FaultFilter;
import lunar.filter.ThrottleFilter;
import lunar.filter.VerifyFilter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoreProviderTest {
    @Test
    void shouldOpenEachSchemeWithItsOptions(@TempDir Path folder) throws IOException {
        try (BlockDevice device = Devices.open("ram:64MiB?block-size=4096")) {
            assertThat(device).isInstanceOf(MemoryDevice.class).hasToString("ram:64MiB");
            assertThat(device.blockCount()).isEqualTo(16384);
        }
        try (BlockDevice device = Devices.open("ram:1GiB?max=256k")) {
            device.write(0, MemorySegment.ofArray(new byte[512]));
            assertThatThrownBy(() -> device.write(9999, MemorySegment.ofArray(new byte[512])))
                    .isInstanceOf(NoSpaceException.class);
        }
        Path file = folder.resolve("disk.img");
        try (BlockDevice device = Devices.open(
                "file:" + file + "?size=8MiB&io=direct&block-size=4096&workers=3")) {
            assertThat(device.limits().queueDepth()).isEqualTo(3);
            assertThat(device.limits().bufferAlignmentBytes()).isGreaterThan(1);
        }
        try (BlockDevice device = Devices.open("file:" + file + "?io=direct&ring=false")) {
            assertThat(((FileDevice) device).engine()).isEqualTo("workers");
        }
        try (BlockDevice device = Devices.open("file:" + file + "?read-only=true")) {
            assertThat(device.readOnly()).isTrue();
            assertThat(device.blockSize()).isEqualTo(512);
        }
    }

    @Test
    void shouldStackFiltersInTheOrderOfTheUri() throws IOException {
        try (BlockDevice device = Devices
                .open("verify:fault=0.5,op=read,seed=1:throttle=1MiB,50iops:ram:1MiB")) {
            assertThat(device).isInstanceOf(VerifyFilter.class);
            BlockDevice fault = ((VerifyFilter) device).below();
            assertThat(fault).isInstanceOf(FaultFilter.class);
            assertThat(((FaultFilter) fault).below()).isInstanceOf(ThrottleFilter.class);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"ram: | needs a size", "ram:x | is not a size",
            "ram:0 | is not possible", "ram:513 | is not possible", "ram:9P | is not possible",
            "ram:1M?block-size=1k | not one of 512, 4096", "ram:1M?max=4k | chunks of 256 KiB",
            "ram:1M?max=x | is not a size", "ram:1M?blocksize=512 | unknown option",
            "file: | needs a path",
            "file:x?io=fast | not one of buffered, sendfile, mapped, direct, sync",
            "file:x?size=1000 | not a multiple", "file:x?workers=0 | not between 1 and",
            "file:x?workers=many | is not a number", "file:x?read-only=yes | not one of true",
            "file:x?io=direct&ring=on | ring=on is not one of true, false",
            "disk:/dev/sdb?block-size=512 | unknown option", "disk: | needs a path",
            "verify:file:does-not-exist | does not exist"})
    void shouldReportErrorInOneLine(String uri, String message) {
        assertThatThrownBy(() -> Devices.open(uri)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message).hasMessageNotContaining("\n");
    }

    @Test
    void shouldCheckUrisWithoutOpeningOrCreatingAnything(@TempDir Path folder) throws IOException {
        Devices.check("ram:1GiB?block-size=4096");
        Path file = folder.resolve("disk.img");
        Devices.check("cache=1MiB:file:" + file + "?size=8MiB");
        assertThat(file).doesNotExist();
        Files.write(file, new byte[4096]);
        try (BlockDevice _ = Devices.open("file:" + file)) {
            Devices.check("file:" + file); // open and locked
        }
        assertThatThrownBy(() -> Devices.check("file:" + file + "?size=8MiB"))
                .isInstanceOf(OtherSizeException.class); // as when it is opened
        Devices.check("encrypt=" + folder.resolve("new.key") + ",create-key=yes:ram:1MiB");
        assertThat(folder.resolve("new.key")).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"ram: | needs a size", "ram:513 | is not possible",
            "ram:1M?blocksize=512 | unknown option", "tape:x | no device of scheme 'tape:'",
            "cache=x:ram:1M | is not a size",
            "encrypt=FOLDER/no.key:ram:1M | no.key does not exist",
            "file:FOLDER/x | does not exist; add ?size=1GiB to create it",
            "file:FOLDER/x?size=1M&read-only=true | read-only=true cannot create it",
            "file:FOLDER/no/x?size=1M | no does not exist",
            "file:FOLDER/full/x?size=1M | full is not a directory",
            "file:FOLDER/link?size=1M | is a symbolic link to a file that does not exist",
            "file:FOLDER | is a directory",
            "file:FOLDER/x?size=1M&io=fast | not one of buffered",
            "file:/dev/null | opened as disk:",
            "file:FOLDER/empty | is empty", "file:FOLDER/full?size=1k | exists with 4096 bytes",
            "file:FOLDER/odd | not a multiple of 512", "disk:FOLDER/x | no such disk",
            "disk:FOLDER/full | is not a disk", "disk:FOLDER/x?size=1M | unknown option"})
    void shouldCheckWhatAUriNames(String uri, String message, @TempDir Path folder)
            throws IOException {
        Files.createFile(folder.resolve("empty"));
        Files.write(folder.resolve("full"), new byte[4096]);
        Files.write(folder.resolve("odd"), new byte[4095]);
        Files.createSymbolicLink(folder.resolve("link"), folder.resolve("nothing"));
        assertThatThrownBy(() -> Devices.check(uri.replace("FOLDER", folder.toString())))
                .hasMessageContaining(message).hasMessageNotContaining("\n");
    }
}
