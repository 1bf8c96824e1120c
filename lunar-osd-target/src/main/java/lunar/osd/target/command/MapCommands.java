package lunar.osd.target.command;

import java.util.ArrayList;
import java.util.List;
import lunar.block.StorageException;
import lunar.osd.store.DataRange;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.command.ReadMapCommand;
import lunar.osd.wire.data.MapType;
import lunar.osd.wire.data.ObjectMap;

/** READ MAP: which ranges of a user object are written. The store knows of no damage before it is read. */
final class MapCommands {
    private static final int RANGE_LENGTH = 16;
    /** Longest range of a descriptor, whose length has 32 bits. */
    private static final long MAX_RANGE = 0xffff_ffffL;
    /** Most ranges in a reply; a reply with more goes on where it ends. */
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
        long allocation = run.device().limits().allocation(command.allocationLength());
        long fits = allocation / RANGE_LENGTH + 1;
        var ranges = new ArrayList<ObjectMap.Range>();
        if (command.startByte() < run.store().length(command.object())) {
            add(run.store().ranges(command.object(), command.startByte(),
                    (int) Math.min(fits, MAX_RANGES)), type, ranges);
        }
        run.in().put(new ObjectMap(ranges).bytes(), allocation);
        run.attributes(command.object());
    }

    private static void add(List<DataRange> found, MapType wanted,
            List<ObjectMap.Range> ranges) {
        for (DataRange range : found) {
            MapType type = range.written() ? MapType.WRITTEN_DATA : MapType.DATA_HOLE;
            if (wanted != MapType.ALL && wanted != type) {
                continue;
            }
            long offset = range.offset();
            long left = range.length();
            while (left > 0 && ranges.size() < MAX_RANGES) {
                long length = Math.min(left, MAX_RANGE);
                ranges.add(new ObjectMap.Range(type.code(), length, offset));
                offset += length;
                left -= length;
            }
        }
    }
}
