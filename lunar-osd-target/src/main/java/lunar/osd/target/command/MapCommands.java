package lunar.osd.target.command;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.block.StorageException;
import lunar.osd.store.DataRange;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.command.ReadMapCommand;
import lunar.osd.wire.data.MapType;
import lunar.osd.wire.data.ObjectMap;
import lunar.scsi.wire.BigEndian;

/** READ MAP: which ranges of a user object are written. The store knows of no damage before it is read. */
final class MapCommands {
    private static final int RANGE_LENGTH = 16;
    /** Longest range of a descriptor, whose length has 32 bits. */
    private static final long MAX_RANGE = 0xffff_ffffL;
    /** Most ranges in a reply; a command that starts behind them gets further ones. */
    private static final int MAX_RANGES = 64 << 10;

    private MapCommands() {}

    static void execute(CommandRun run, ReadMapCommand command)
            throws StorageException, RefusedException {
        MapType type = MapType.of(command.mapType())
                .orElseThrow(() -> RefusedException.field(CdbFieldAt.CONTINUATION));
        if (command.startByte() < 0) {
            throw RefusedException.field(CdbFieldAt.start(command));
        }
        run.begin();
        var map = new FilteredMap(type);
        long from = command.startByte();
        long length = run.store().length(command.object());
        while (from < length && !run.isAborted()) {
            List<DataRange> found = run.store().ranges(command.object(), from, OsdLimits.BATCH);
            if (found.isEmpty()) {
                break; // truncated since
            }
            found.forEach(map::add);
            from = found.getLast().offset() + found.getLast().length();
        }
        run.in().put(map.bytes(),
                run.device().limits().allocation(command.allocationLength()));
        run.attributes(command.object());
    }

    /** The ranges of one type: the first of them, and the number of all. */
    private static final class FilteredMap {
        private final MapType wanted;
        private final List<ObjectMap.Range> ranges = new ArrayList<>();
        private long count;

        FilteredMap(MapType wanted) { this.wanted = wanted; }

        void add(DataRange range) {
            MapType type = range.written() ? MapType.WRITTEN_DATA : MapType.DATA_HOLE;
            if (wanted != MapType.ALL && wanted != type) {
                return;
            }
            count += Math.ceilDiv(range.length(), MAX_RANGE);
            long offset = range.offset();
            long left = range.length();
            while (left > 0 && ranges.size() < MAX_RANGES) {
                long length = Math.min(left, MAX_RANGE);
                ranges.add(new ObjectMap.Range(type.code(), length, offset));
                offset += length;
                left -= length;
            }
        }

        /** The reply, whose additional length counts all ranges. */
        byte[] bytes() {
            byte[] bytes = new ObjectMap(ranges).bytes();
            BigEndian.int64(MemorySegment.ofArray(bytes), 0, RANGE_LENGTH * count);
            return bytes;
        }
    }
}
