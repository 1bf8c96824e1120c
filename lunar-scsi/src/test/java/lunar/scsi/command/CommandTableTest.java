package lunar.scsi.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import java.util.Optional;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.ParameterData;
import lunar.scsi.Sense;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.ReadCapacity16;
import lunar.scsi.block.WriteBlocks;
import lunar.scsi.command.CommandDescriptor.Timeouts;
import lunar.scsi.command.SupportedOperationCode.Support;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommandTableTest {
    private static final CommandTable TABLE = CommandTable
            .standard(command -> List.of(0x00, 0x12, 0x28, 0x9e).contains(command.opcode()));

    @Test
    void shouldListEveryCommand() throws Exception {
        assertThat(answer(false, 0, 0, 0).bytes()).isEqualTo(Bytes.ofHex("00000028"
                + "00 00 0000 00 00 0006" + "12 00 0000 00 00 0006" + "28 00 0000 00 00 000a"
                + "9e 00 0010 00 01 0010" + "9e 00 0012 00 01 0010").toArray());
        assertThat(answer(true, 0, 0, 0).bytes()).hasSize(4 + 5 * 20).startsWith(
                Bytes.ofHex("00000064 00 00 0000 00 02 0006 000a 00 00 00000000 00000000")
                        .toArray());
    }

    @ParameterizedTest
    @CsvSource({"1, 0x12, 0, 12 01 ff ff ff 04", "3, 0x12, 0, 12 01 ff ff ff 04",
            "2, 0x9e, 0x10, 9e 10 00 00 00 00 00 00 00 00 ff ff ff ff 00 04",
            "3, 0x9e, 0x12, 9e 12 ff ff ff ff ff ff ff ff ff ff ff ff ff 04"})
    void shouldReportOneCommand(int options, int opcode, int serviceAction, String usage)
            throws Exception {
        assertThat(answer(false, options, opcode, serviceAction)).isEqualTo(
                new SupportedOperationCode(Support.STANDARD, Bytes.ofHex(usage),
                        Optional.empty()));
    }

    @ParameterizedTest
    @CsvSource({"1, 0x2a, 0", "2, 0x9e, 0x11", "2, 0xa3, 0x0a", "3, 0x12, 1", "3, 0x9e, 0"})
    void shouldReportUnsupportedCommand(int options, int opcode, int serviceAction)
            throws Exception {
        var answer = answer(true, options, opcode, serviceAction);
        assertThat(answer).isEqualTo(SupportedOperationCode.NOT_SUPPORTED);
        assertThat(answer.bytes()).containsExactly(0, 1, 0, 0);
    }

    @ParameterizedTest
    @CsvSource({"1, 0x9e, 0", "2, 0x12, 0", "4, 0x12, 0", "7, 0, 0"})
    void shouldRejectOptionsThatDoNotGoWithTheCommand(int options, int opcode,
            int serviceAction) {
        assertThatExceptionOfType(InvalidCdbException.class)
                .isThrownBy(() -> answer(false, options, opcode, serviceAction))
                .satisfies(e -> assertThat(e.sense()).isEqualTo(Sense.invalidFieldInCdb(2, 2)));
    }

    @Test
    void shouldReportTimeoutsWhereAsked() throws Exception {
        var table = CommandTable.of(List.of(StandardCommands.ALL.getFirst().withTimeouts(1, 30)));
        var cdb = new ReportSupportedOperationCodes(true, 1, 0, 0, 100);
        var answer = (SupportedOperationCode) table.answer(cdb);
        assertThat(answer.timeouts()).contains(new Timeouts(1, 30));
        assertThat(answer.bytes()).isEqualTo(Bytes.ofHex(
                "00 83 0006 00 00 00 00 00 04 000a 00 00 00000001 0000001e").toArray());
    }

    @Test
    void shouldFindTheDescriptorOfACommand() {
        assertThat(TABLE.find(ReadBlocks.of(0, 1))).map(CommandDescriptor::name)
                .contains("READ(10)");
        assertThat(TABLE.find(new ReadCapacity16(32))).map(CommandDescriptor::name)
                .contains("READ CAPACITY(16)");
        assertThat(TABLE.find(WriteBlocks.of(0, 1, false))).isEmpty();
    }

    @Test
    void shouldListNoCommandTwice() {
        assertThat(StandardCommands.ALL).extracting(it -> it.opcode() << 16
                | it.serviceAction().orElse(0)).doesNotHaveDuplicates().isSorted();
    }

    private static ParameterData answer(boolean rctd, int options, int opcode, int serviceAction)
            throws InvalidCdbException {
        return TABLE.answer(
                new ReportSupportedOperationCodes(rctd, options, opcode, serviceAction, 4096));
    }
}
