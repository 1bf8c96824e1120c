package lunar.target;

import static lunar.target.RawInitiator.bytes;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import lunar.scsi.Status;
import lunar.scsi.target.StateStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests SANITIZE and FORMAT UNIT that were interrupted by the end of the server (SBC-4 sections 4.10 and 4.11). */
class InterruptedErasureTest {
    private static final String READY = "000000000000";
    private static final String ERASE = "48020000000000000000";
    private static final String ERASE_AT_ONCE = "48820000000000000000";
    private static final String EXIT_FAILURE_MODE = "481f0000000000000000";
    private static final String OVERWRITE = "48010000000000000600";
    private static final String FORMAT = "040000000000";

    @TempDir
    Path folder;

    /** The state as a server leaves it that is killed now. */
    private static StateStore killed(StateStore running) throws IOException {
        StateStore copy = StateStore.inMemory();
        Optional<byte[]> erasure = running.load("erasure");
        if (erasure.isPresent()) {
            copy.save("erasure", erasure.get());
        }
        return copy;
    }

    /** A unit whose medium has something on it. */
    private TargetFixture written(StateStore state) throws IOException {
        Path file = folder.resolve("disk.img");
        byte[] content = new byte[1 << 20];
        Arrays.fill(content, (byte) 0x77);
        Files.write(file, content);
        return new TargetFixture("file:" + file, unit -> unit.withState(state));
    }

    @Test
    void shouldContinueWithSanitizeThatWasInterrupted() throws Exception {
        StateStore state = StateStore.inMemory();
        StateStore left;
        try (var target = new TargetFixture(state); var initiator = target.ready(1)) {
            target.device.shut(1);
            assertThat(initiator.command(ERASE_AT_ONCE, 0).status()).isEqualTo(Status.GOOD);
            target.device.awaitArrivals();
            left = killed(state);
            target.device.open();
            EraseCommandsTest.awaitReady(initiator, 0x02_04_1b);
        }
        assertThat(killed(state).load("erasure")).as("that one has ended").contains(new byte[0]);
        try (var target = written(left); var initiator = target.ready(1)) {
            EraseCommandsTest.awaitReady(initiator, 0x02_04_1b);
            assertThat(initiator.read(2047, 1)).isEqualTo(blocks(1, 0));
        }
        try (var target = written(left); var initiator = target.ready(1)) {
            assertThat(initiator.read(2047, 1)).as("once is enough").isEqualTo(blocks(1, 0x77));
        }
    }

    @Test
    void shouldContinueWithTheSameOverwrite() throws Exception {
        StateStore state = StateStore.inMemory();
        StateStore left;
        try (var target = new TargetFixture(state); var initiator = target.ready(1)) {
            target.device.shut(1);
            initiator.write(initiator.newTag(), initiator.useCmdSn(), bytes(OVERWRITE),
                    bytes("02000002 a50f"), 6, true);
            target.device.awaitArrivals();
            left = killed(state);
        }
        try (var target = written(left); var initiator = target.ready(1)) {
            EraseCommandsTest.awaitReady(initiator, 0x02_04_1b);
            assertThat(Arrays.copyOf(initiator.read(2047, 1), 4)).isEqualTo(bytes("a50fa50f"));
        }
    }

    @Test
    void shouldStayInFailureMode() throws Exception {
        StateStore state = StateStore.inMemory();
        try (var target = new TargetFixture("fault=0,op=write,lba=2000-2000:ram:1MiB",
                unit -> unit.withState(state)); var initiator = target.ready(1)) {
            assertThat(initiator.commandOut(OVERWRITE, bytes("01000002a50f")).sense())
                    .isEqualTo(0x03_31_03);
        }
        try (var target = written(state); var initiator = target.ready(1)) {
            assertThat(initiator.command(READY, 0).sense()).isEqualTo(0x03_31_03);
            assertThat(initiator.command(EXIT_FAILURE_MODE, 0).sense()).isEqualTo(0x05_24_00);
            assertThat(initiator.command(ERASE, 0).status()).isEqualTo(Status.GOOD);
            assertThat(initiator.command(READY, 0).status()).isEqualTo(Status.GOOD);
        }
        try (var target = written(state); var initiator = target.ready(1)) {
            assertThat(initiator.read(0, 1)).isEqualTo(blocks(1, 0x77));
        }
    }

    @Test
    void shouldBeCorruptUntilFormattedAnew() throws Exception {
        StateStore state = StateStore.inMemory();
        StateStore left;
        try (var target = new TargetFixture(state); var initiator = target.ready(1)) {
            target.device.shut(1);
            int tag = initiator.send(bytes(FORMAT), 0);
            target.device.awaitArrivals();
            left = killed(state);
            target.device.open();
            assertThat(initiator.receive().bhs().itt()).isEqualTo(tag);
        }
        try (var target = written(left); var initiator = target.ready(1)) {
            assertThat(initiator.command(READY, 0).sense()).isEqualTo(0x03_31_00);
            assertThat(initiator.command(EXIT_FAILURE_MODE, 0).sense())
                    .as("which is for SANITIZE").isEqualTo(0x05_24_00);
            assertThat(target.onDevice(0, 1)).isEqualTo(blocks(1, 0x77));
            assertThat(initiator.command(FORMAT, 0).status()).isEqualTo(Status.GOOD);
            assertThat(initiator.read(0, 1)).isEqualTo(blocks(1, 0));
        }
    }

    @Test
    void shouldNotWriteUnitThatIsForReadingOnlyNow() throws Exception {
        StateStore state = StateStore.inMemory();
        state.save("erasure", bytes("010200")); // BLOCK ERASE that continues
        Path file = folder.resolve("kept.img");
        Files.write(file, blocks(2048, 9));
        try (var target = new TargetFixture("file:" + file,
                unit -> unit.withState(state).withReadOnly(true));
                var initiator = target.ready(1)) {
            assertThat(initiator.command(READY, 0).sense()).isEqualTo(0x03_31_03);
            assertThat(target.onDevice(0, 1)).isEqualTo(blocks(1, 9));
        }
    }

    @Test
    void shouldNotBeginWhatItCannotSave() throws Exception {
        var full = new StateStore() {
            @Override
            public Optional<byte[]> load(String name) { return Optional.empty(); }

            @Override
            public void save(String name, byte[] state) throws IOException {
                throw new IOException("no space left on device");
            }

            @Override
            public boolean isPersistent() { return true; }
        };
        try (var target = written(full); var initiator = target.ready(1)) {
            assertThat(initiator.command(ERASE_AT_ONCE, 0).sense()).isEqualTo(0x04_44_00);
            assertThat(initiator.read(0, 1)).isEqualTo(blocks(1, 0x77));
        }
    }

    @Test
    void shouldNotStartOverDamagedState() throws Exception {
        StateStore state = StateStore.inMemory();
        state.save("erasure", bytes("010400ff"));
        assertThatExceptionOfType(IOException.class).isThrownBy(() -> written(state))
                .withMessageContaining("damaged");
    }
}
