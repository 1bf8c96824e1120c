package lunar.target;

import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.OptionalLong;
import lunar.scsi.Sense;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests INFORMATION of medium errors: the LBA, or none if it is not known (SBC-4 section 4.18.1). */
class MediumErrorTest {
    private static Sense sense(RawInitiator.Received answer) {
        return Sense.decode(MemorySegment.ofArray(answer.data()).asSlice(2));
    }

    private static OptionalLong information(boolean write, int lba, int count) throws Exception {
        try (var target = new TargetFixture("fault=0,lba=10-10:ram:1MiB", unit -> unit);
                var initiator = target.ready(1)) {
            RawInitiator.Received answer = write
                    ? initiator.commandOut(RawInitiator.writeCdb(lba, count), blocks(count, 1))
                    : initiator.command(RawInitiator.readCdb(lba, count), count * 512);
            assertThat(answer.sense() >> 16).as("MEDIUM ERROR").isEqualTo(3);
            return sense(answer).information();
        }
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void shouldReportTheBlockWhereItIsTheOnlyOne(boolean write) throws Exception {
        assertThat(information(write, 10, 1)).hasValue(10);
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void shouldReportNoBlockWhereAnyOfSeveralMayBeTheOne(boolean write) throws Exception {
        assertThat(information(write, 8, 8)).isEmpty();
    }

    /** A VERIFY reads pieces of its own; a piece of one block is known. */
    @Test
    void shouldReportNoFirstBlockOfAPieceOfAVerify() throws Exception {
        try (var target = new TargetFixture("fault=0,lba=10-10:ram:1MiB", unit -> unit);
                var initiator = target.ready(1)) {
            assertThat(sense(initiator.command("2f000000000000002000", 0)).information()).isEmpty();
            assertThat(sense(initiator.command("2f000000000a00000100", 0)).information())
                    .hasValue(10);
        }
    }
}
