package lunar.target;

import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the events of commands in recordings of JDK Flight Recorder. */
@Timeout(600)
class CommandEventTest {
    private static final String NAME = "lunar.Command";

    @TempDir
    Path folder;

    private static List<RecordedEvent> events(Recording recording, Path file) throws Exception {
        recording.stop();
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals(NAME)).toList();
    }

    @Test
    void shouldRecordCommandsWithTheirOutcome() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1);
                var recording = new Recording()) {
            recording.enable(NAME);
            recording.start();
            initiator.write(8, blocks(4, 7));
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
            initiator.read(8, 2);
            initiator.send(RawInitiator.readCdb(1 << 20, 1), 512);
            assertThat(initiator.receive().status()).isEqualTo(Status.CHECK_CONDITION);
            target.device.shut(1);
            int hung = initiator.send(RawInitiator.readCdb(0, 1), 512);
            target.device.awaitArrivals();
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, hung);
            initiator.assertSilent(); // the target has got that
            target.device.open();
            initiator.managed(abort);

            List<RecordedEvent> events = events(recording, folder.resolve("commands.jfr"));
            assertThat(events).hasSize(4).allSatisfy(event -> {
                assertThat(event.getString("target")).isEqualTo(RawInitiator.TARGET);
                assertThat(event.getString("initiator")).isEqualTo(RawInitiator.NAME);
                assertThat(event.getString("lun")).isEqualTo("0");
                assertThat(event.getDuration()).isPositive();
            });
            assertThat(events).extracting(event -> event.getString("command"))
                    .containsExactly("WRITE(10) lba=8 blocks=4", "READ(10) lba=8 blocks=2",
                            "READ(10) lba=1048576 blocks=1", "READ(10) lba=0 blocks=1");
            assertThat(events).extracting(event -> event.getLong("dataOut"))
                    .containsExactly(4L * 512, 0L, 0L, 0L);
            assertThat(events).extracting(event -> event.getLong("dataIn"))
                    .containsExactly(0L, 2L * 512, 0L, 0L);
            assertThat(events.get(2).getString("senseKey")).isEqualTo("ILLEGAL REQUEST");
            assertThat(events.get(3).getString("status")).isEqualTo("aborted");
        }
    }

    @Test
    void shouldRecordSlowCommandsOnlyWhereARecordingHasAThreshold() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1);
                var recording = new Recording()) {
            recording.enable(NAME).withThreshold(Duration.ofHours(1));
            recording.start();
            initiator.read(8, 2);
            assertThat(events(recording, folder.resolve("none.jfr"))).isEmpty();
        }
    }

    @Test
    void shouldRecordNothingUnlessARecordingEnablesIt() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1);
                var recording = new Recording()) {
            recording.start();
            initiator.read(8, 2);
            assertThat(events(recording, folder.resolve("off.jfr"))).isEmpty();
        }
    }
}
