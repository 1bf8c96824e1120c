package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.RandomAccessFile;
import java.nio.file.Path;
import lunar.initiator.Initiator;
import lunar.initiator.multipath.MultipathDevice;
import lunar.scsi.Lun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@link LateWritesTest} with tgtd, whose portals are all in one group. */
class LateWritesTgtdIT {
    @TempDir
    private Path folder;

    @Test
    void shouldNotUndoALaterWriteByAnotherPath() throws Exception {
        try (var tgtd = Tgtd.start(folder)) {
            tgtd.parameter(tgtd.addTarget("late", 16 << 20), "DefaultTime2Wait", "0");
            try (var proxy = new FreezeProxy(tgtd.port());
                    var initiator = Initiator.create("iqn.2026-11.org.lunar:late");
                    var device = MultipathDevice.open(initiator, LateWritesTest
                            .by(Tgtd.name("late"), Lun.of(1), proxy.port(), tgtd.port()))) {
                LateWritesTest.freezeAndThaw(proxy, device);
            }
            try (var image = new RandomAccessFile(folder.resolve("late.img").toFile(), "r")) {
                assertThat(image.read()).isEqualTo(3);
            }
        }
    }
}
