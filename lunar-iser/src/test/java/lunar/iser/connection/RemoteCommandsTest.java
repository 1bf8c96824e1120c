package lunar.iser.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.login.TaskReporting;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iser.wire.IserHeader;
import org.junit.jupiter.api.Test;

/** Tests the addresses of a command's data in the memory of the initiator (RFC 7145 sections 6.9 and 7.3). */
class RemoteCommandsTest {
    private static final int FINAL = 0x80;

    private final RemoteCommands commands = new RemoteCommands();

    private static OperationalParameters parameters(boolean tagged, int firstBurst) {
        return new OperationalParameters(false, false, 1, false, true, 8192, 8192, 262144,
                firstBurst, 2, 20, 1, true, true, 0, TaskReporting.RFC3720, 1,
                Optional.of(new OperationalParameters.Iser(8192, 8192, 0, 0, tagged, false)));
    }

    private static MemorySegment advertising(boolean writes, boolean reads) {
        MemorySegment message = MemorySegment.ofArray(new byte[IserHeader.LENGTH]);
        IserHeader.encode(message);
        if (writes) {
            IserHeader.addWrite(message, 0x11, 0x10_0000);
        }
        if (reads) {
            IserHeader.addRead(message, 0x22, 0x20_0000);
        }
        return message;
    }

    private static Bhs command(int itt, int flags, int expectedBytes) {
        return new Bhs().wrap(MemorySegment.ofArray(new byte[Bhs.LENGTH]))
                .start(ScsiCommand.OPCODE, false, flags).int32(Pdu.ITT, itt)
                .int32(ScsiCommand.EXPECTED_DATA_TRANSFER_LENGTH, expectedBytes);
    }

    @Test
    void shouldAddressDataAfterTheImmediateDataLikeLinux() throws Exception {
        commands.agreed(parameters(true, 65536));
        commands.add(advertising(true, false), command(1, FINAL, 100_000), 4096);
        RemoteCommand command = commands.get(1);
        assertThat(command.writeStag()).isEqualTo(0x11);
        assertThat(command.writeAddress(4096)).isEqualTo(0x10_0000);
        assertThat(command.writeAddress(8192)).isEqualTo(0x10_0000 + 4096);
    }

    @Test
    void shouldAddressDataAfterAllUnsolicitedData() throws Exception {
        commands.agreed(parameters(true, 65536));
        commands.add(advertising(true, false), command(1, 0, 100_000), 4096);
        assertThat(commands.get(1).writeAddress(65536)).isEqualTo(0x10_0000);
        commands.add(advertising(true, false), command(2, 0, 30_000), 4096);
        assertThat(commands.get(2).writeAddress(30_000)).isEqualTo(0x10_0000);
        commands.add(advertising(true, false), command(3, 0, -2), 4096);
        assertThat(commands.get(3).writeAddress(65536)).as("4 GiB").isEqualTo(0x10_0000);
    }

    @Test
    void shouldAddressDataFromTheStartIfTheWholeBufferIsTagged() throws Exception {
        commands.agreed(parameters(false, 65536));
        commands.add(advertising(true, false), command(1, FINAL, 100_000), 4096);
        assertThat(commands.get(1).writeAddress(4096)).isEqualTo(0x10_0000 + 4096);
    }

    @Test
    void shouldAddressBothBuffersOfABidirectionalCommand() throws Exception {
        commands.agreed(parameters(true, 65536));
        commands.add(advertising(true, true), command(1, FINAL, 100_000), 0);
        RemoteCommand command = commands.get(1);
        assertThat(command.writeAddress(512)).isEqualTo(0x10_0000 + 512);
        assertThat(command.readStag()).isEqualTo(0x22);
        assertThat(command.readAddress(512)).isEqualTo(0x20_0000 + 512);
        assertThat(command.keyToInvalidate()).isEqualTo(0x22);
    }

    @Test
    void shouldInvalidateTheWriteStagIfThereIsNoReadStag() throws Exception {
        commands.add(advertising(true, false), command(1, FINAL, 512), 0);
        assertThat(commands.get(1).keyToInvalidate()).isEqualTo(0x11);
    }

    @Test
    void shouldRejectAccessToBuffersThatAreNotAdvertised() throws Exception {
        commands.add(advertising(true, false), command(1, FINAL, 512), 0);
        assertThatThrownBy(commands.get(1)::readStag).isInstanceOf(ProtocolException.class)
                .hasMessageContaining("without a valid Read STag");
        assertThat(commands.remove(1)).isNotNull();
        commands.add(advertising(false, true), command(1, FINAL, 512), 0);
        assertThatThrownBy(commands.get(1)::writeStag).isInstanceOf(ProtocolException.class)
                .hasMessageContaining("without a valid Write STag");
        commands.add(advertising(false, false), command(2, FINAL, 512), 0);
        assertThatThrownBy(() -> commands.get(2)).isInstanceOf(ProtocolException.class)
                .hasMessageContaining("no STag advertised");
        assertThat(commands.remove(1)).isNotNull();
        assertThatThrownBy(() -> commands.get(1)).isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldRejectACommandWithATagInUse() throws Exception {
        commands.add(advertising(true, false), command(1, FINAL, 512), 0);
        assertThatThrownBy(
                () -> commands.add(advertising(false, true), command(1, FINAL, 512), 0))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("two commands with the task tag 1h");
    }

    @Test
    void shouldRejectMoreCommandsThanAnyCommandWindow() {
        assertThatThrownBy(() -> {
            for (int itt = 0; itt <= 8192; itt++) {
                commands.add(advertising(true, false), command(itt, FINAL, 512), 0);
            }
        }).isInstanceOf(ProtocolException.class).hasMessageContaining("more than 8192 commands");
    }
}
