package lunar.initiator.internal.lun;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.initiator.internal.session.BounceBuffers;
import lunar.initiator.internal.session.Command;
import lunar.scsi.Cdb;
import lunar.scsi.CdbForm;
import lunar.scsi.Lun;
import lunar.scsi.block.CompareAndWrite;
import lunar.scsi.block.SynchronizeCache;
import lunar.scsi.block.Unmap;
import lunar.scsi.block.UnmapParameterList;
import lunar.scsi.block.WriteSame;
import org.jspecify.annotations.Nullable;

/** Translates the block requests for a LUN into SCSI commands. */
final class BlockCommands {
    private final Lun lun;
    private volatile LunTraits traits;
    private final BounceBuffers bounces;
    private final MemorySegment zeroes;

    BlockCommands(Lun lun, LunTraits traits, BounceBuffers bounces) {
        this.lun = lun;
        this.traits = traits;
        this.bounces = bounces;
        zeroes = Arena.ofAuto().allocate(traits.geometry().blockSize(), 64);
    }

    /** Takes over traits of the LUN that have become known. */
    void learn(LunTraits known) {
        traits = known;
    }

    /** Prepares the command for the request of a state. */
    void prepare(Command command, LunRequest state, Command.Ending ended) {
        BlockRequest request = Objects.requireNonNull(state.request);
        long lba = request.lba();
        long blockCount = request.blockCount();
        MemorySegment in = MemorySegment.NULL;
        MemorySegment out = MemorySegment.NULL;
        LunTraits now = traits; // more may be known before the command ends
        boolean fua = request.fua() && now.capabilities().contains(Capability.FUA);
        @Nullable
        Cdb cdb = switch (request.operation()) {
            case READ -> {
                in = bounces.into(request.buffer());
                command.encodeRead(lba, blockCount);
                yield null;
            }
            case WRITE -> {
                out = bounces.outOf(request.buffer());
                command.encodeWrite(lba, blockCount, fua);
                yield null;
            }
            case FLUSH -> SynchronizeCache.ALL;
            case UNMAP -> {
                if (now.unmapsByWriteSame()) {
                    out = zeroes;
                    yield writeSame(lba, blockCount, true);
                }
                byte[] list = new UnmapParameterList(
                        List.of(new UnmapParameterList.Range(lba, blockCount))).bytes();
                out = MemorySegment.ofArray(list);
                yield new Unmap(false, 0, list.length);
            }
            case WRITE_ZEROES -> {
                out = zeroes;
                yield writeSame(lba, blockCount, now.unmapsByWriteSame() && !request.fua());
            }
            case COMPARE_AND_WRITE -> {
                out = bounces.outOf(request.buffer());
                yield new CompareAndWrite(lba, (int) blockCount, 0, false, fua, 0);
            }
        };
        command.prepare(lun.value(), in, out, ended);
        if (cdb != null) {
            command.encode(cdb);
        }
        state.needsFlush = request.fua()
                && (!fua || request.operation() == Operation.WRITE_ZEROES);
    }

    private static WriteSame writeSame(long lba, long blockCount, boolean unmap) {
        return new WriteSame(CdbForm.CDB16, lba, blockCount, 0, false, unmap, false, 0);
    }

    /** Whether a command may leave blocks in a volatile cache, regardless of its FUA bit. */
    static boolean changesBlocks(byte opcode) {
        return switch (opcode & 0xff) {
            case 0x0a, 0x2a, 0xaa, 0x8a, // WRITE
                    0x2e, 0xae, 0x8e, // WRITE AND VERIFY
                    0x41, 0x93, 0x42, // WRITE SAME, UNMAP
                    0x89, 0x8b, 0x9c, // COMPARE AND WRITE, ORWRITE, WRITE ATOMIC
                    0x83, // EXTENDED COPY, POPULATE TOKEN, WRITE USING TOKEN
                    0x7f -> // commands of 32 bytes
                true;
            default -> false;
        };
    }

    /** Whether a command is SYNCHRONIZE CACHE(10) or (16). */
    static boolean synchronizesCache(byte opcode) {
        return (opcode & 0xff) == 0x35 || (opcode & 0xff) == 0x91;
    }

    /** Returns the stand-in buffer that {@link #prepare} used in place of the caller's. */
    void giveBack(Command command, BlockRequest request) {
        switch (request.operation()) {
            case READ -> bounces.give(command.dataIn(), request.buffer());
            case WRITE, COMPARE_AND_WRITE -> {
                if (command.dataOut().byteSize() > 0) { // not so after a flush that followed
                    bounces.give(command.dataOut(), request.buffer());
                }
            }
            case FLUSH, UNMAP, WRITE_ZEROES -> {
            }
        }
    }
}
