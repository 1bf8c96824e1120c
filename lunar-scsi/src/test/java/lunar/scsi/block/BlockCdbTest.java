package lunar.scsi.block;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import lunar.scsi.Cdb;
import lunar.scsi.CdbForm;
import lunar.scsi.command.RandomCdbs;
import org.junit.jupiter.api.Test;

class BlockCdbTest {
    private static final long SEED = Long.getLong("lunar.seed", 20260102);
    private static final int AT = 32; // where the CDB is in a header of iSCSI

    @Test
    void shouldMatchTheRecords() throws Exception {
        var cdbs = new RandomCdbs(new Random(SEED));
        for (int i = 0; i < 10_000; i++) {
            Cdb cdb = cdbs.next(8 + i % 2);
            var header = MemorySegment.ofArray(new byte[48]);
            cdb.encode(header.asSlice(AT));
            int opcode = BlockCdb.opcode(header, AT);
            long lba = BlockCdb.lba(header, AT);
            long count = BlockCdb.blockCount(header, AT);
            boolean fua = BlockCdb.fua(header, AT);
            boolean plain = BlockCdb.isPlain(header, AT);
            boolean agrees = switch (cdb) {
                case ReadBlocks it -> BlockCdb.opcodeIsRead(opcode)
                        && !BlockCdb.opcodeIsWrite(opcode) && lba == it.lba()
                        && count == it.blockCount() && fua == it.fua()
                        && plain == (it.protect() == 0);
                case WriteBlocks it -> BlockCdb.opcodeIsWrite(opcode)
                        && !BlockCdb.opcodeIsRead(opcode) && lba == it.lba()
                        && count == it.blockCount() && fua == it.fua()
                        && plain == (it.protect() == 0);
                default -> false;
            };
            assertThat(agrees).as("seed %d, %d: %s", SEED, i, cdb).isTrue();
        }
    }

    @Test
    void shouldNotCallACommandWithNacaPlain() {
        for (CdbForm form : CdbForm.values()) {
            byte[] bytes = new ReadBlocks(form, 1, 1, 0, false, false, 0).bytes();
            assertThat(BlockCdb.isPlain(MemorySegment.ofArray(bytes), 0)).isTrue();
            bytes[bytes.length - 1] = 4;
            assertThat(BlockCdb.isPlain(MemorySegment.ofArray(bytes), 0)).isFalse();
        }
    }

    @Test
    void shouldTreatNoOtherCdbAsReadOrWrite() {
        long reads = 0;
        long writes = 0;
        for (int opcode = 0; opcode < 256; opcode++) {
            reads += BlockCdb.opcodeIsRead(opcode) ? 1 : 0;
            writes += BlockCdb.opcodeIsWrite(opcode) ? 1 : 0;
        }
        assertThat(reads).isEqualTo(4);
        assertThat(writes).isEqualTo(4);
    }
}
