package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.stream.Stream;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.WriteBlocks;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a read or write succeeds only if all data were transferred, regardless of the reported residual (RFC 7143
 * section 11.4).
 */
@Timeout(120)
class WholeTransferTest {
    private static final int BYTES = 2 * ScriptedDisk.BLOCK_SIZE;
    private static final Sense RECOVERED = Sense.of(SenseKey.RECOVERED_ERROR,
            AdditionalSense.NONE);

    /** How a target answers a READ or WRITE of two blocks. */
    @FunctionalInterface
    interface Answer {
        void give(ScriptedPeer peer, ScsiCommand command) throws Exception;
    }

    private record Case(String name, Answer answer) {
        @Override
        public String toString() { return name; }
    }

    private static void dataIn(ScriptedPeer peer, ScsiCommand command, int dataSn, int offset,
            int length) throws IOException {
        byte[] data = new byte[length];
        Arrays.fill(data, (byte) 7);
        peer.send(new DataIn(false, false, false, 0, Residual.NONE, command.lun(), command.itt(),
                Bhs.NO_TAG, 0, peer.expCmdSn(), peer.maxCmdSn(), dataSn, offset), data);
    }

    private static void response(ScriptedPeer peer, ScsiCommand command, Status status,
            Residual residual, int expDataSn, byte[] sense) throws IOException {
        byte[] data = new byte[sense.length == 0 ? 0 : 2 + sense.length];
        if (sense.length > 0) {
            data[1] = (byte) sense.length;
            System.arraycopy(sense, 0, data, 2, sense.length);
        }
        peer.send(new ScsiResponse(ScsiResponse.COMPLETED, status.code(), 0, residual,
                Residual.NONE, command.itt(), 0, peer.statSn(), peer.expCmdSn(), peer.maxCmdSn(),
                expDataSn), data);
    }

    private static void recovered(ScriptedPeer peer, ScsiCommand command, Residual residual,
            int expDataSn) throws IOException {
        response(peer, command, Status.CHECK_CONDITION, residual, expDataSn,
                RECOVERED.encodeFixed());
    }

    private static Residual underflow(int bytes) {
        return new Residual(Residual.Kind.UNDERFLOW, bytes);
    }

    private static Residual overflow(int bytes) {
        return new Residual(Residual.Kind.OVERFLOW, bytes);
    }

    static Stream<Case> partialReads() {
        return Stream.of(
                new Case("recovered without data", (peer, command) -> recovered(peer, command,
                        Residual.NONE, 0)),
                new Case("recovered with half of the data", (peer, command) -> {
                    dataIn(peer, command, 0, 0, 512);
                    recovered(peer, command, Residual.NONE, 1);
                }), new Case("recovered with half of the data, and said so", (peer, command) -> {
                    dataIn(peer, command, 0, 0, 512);
                    recovered(peer, command, underflow(512), 1);
                }), new Case("recovered with all data and less told", (peer, command) -> {
                    dataIn(peer, command, 0, 0, BYTES);
                    recovered(peer, command, underflow(512), 1);
                }), new Case("condition met without data", (peer, command) -> response(peer,
                        command, Status.CONDITION_MET, Residual.NONE, 0, new byte[0])),
                new Case("good without data", (peer, command) -> response(peer, command,
                        Status.GOOD, Residual.NONE, 0, new byte[0])),
                new Case("good with half of the data", (peer, command) -> {
                    dataIn(peer, command, 0, 0, 512);
                    response(peer, command, Status.GOOD, Residual.NONE, 1, new byte[0]);
                }), new Case("good with half of the data, and said so", (peer, command) -> {
                    dataIn(peer, command, 0, 0, 512);
                    response(peer, command, Status.GOOD, underflow(512), 1, new byte[0]);
                }), new Case("good with all data and more told", (peer, command) -> {
                    dataIn(peer, command, 0, 0, BYTES);
                    response(peer, command, Status.GOOD, overflow(512), 1, new byte[0]);
                }), new Case("good with a hole", (peer, command) -> {
                    dataIn(peer, command, 0, 512, 512);
                    response(peer, command, Status.GOOD, Residual.NONE, 1, new byte[0]);
                }), new Case("good with one half twice", (peer, command) -> {
                    dataIn(peer, command, 0, 0, 512);
                    dataIn(peer, command, 1, 0, 512);
                    response(peer, command, Status.GOOD, Residual.NONE, 2, new byte[0]);
                }), new Case("good with a Data-In missing", (peer, command) -> {
                    dataIn(peer, command, 0, 0, BYTES);
                    response(peer, command, Status.GOOD, Residual.NONE, 2, new byte[0]);
                }));
    }

    static Stream<Case> partialWrites() {
        return Stream.of(
                new Case("good without asking for data", (peer, command) -> response(peer, command,
                        Status.GOOD, Residual.NONE, 0, new byte[0])),
                new Case("recovered without asking for data", (peer, command) -> recovered(peer,
                        command, Residual.NONE, 0)),
                new Case("good and less told", (peer, command) -> response(peer, command,
                        Status.GOOD, underflow(512), 0, new byte[0])));
    }

    private static Loopback reading(Answer answer) {
        return Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                answer.give(peer, command);
                return true;
            }
            return false;
        });
    }

    @ParameterizedTest
    @MethodSource("partialReads")
    void shouldNotTreatAPartialReadAsComplete(Case partial) throws Exception {
        try (Loopback loopback = reading(partial.answer); LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.read(0, Loopback.blocks(2)))
                    .isInstanceOf(StorageException.class);
        }
    }

    @Test
    void shouldAcceptACompleteReadWithRecoveredError() throws Exception {
        try (Loopback loopback = reading((peer, command) -> {
            dataIn(peer, command, 0, 0, BYTES);
            recovered(peer, command, Residual.NONE, 1);
        }); LunDevice device = loopback.open()) {
            MemorySegment buffer = Loopback.blocks(2);
            device.read(0, buffer);
            assertThat(buffer.toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
        }
    }

    @ParameterizedTest
    @MethodSource("partialWrites")
    void shouldNotTreatAPartialWriteAsComplete(Case partial) throws Exception {
        // Beyond the data that come with the command, so that the target has to ask for them.
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof WriteBlocks) {
                partial.answer.give(peer, command);
                return true;
            }
            return false;
        }); LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.write(0, Loopback.blocks(64)))
                    .isInstanceOf(MediumException.class).hasMessageContaining("residual");
        }
    }
}
