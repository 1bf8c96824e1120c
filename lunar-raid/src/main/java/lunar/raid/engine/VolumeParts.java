package lunar.raid.engine;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.Geometry;
import lunar.block.Limits;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.ReshapeState;
import lunar.raid.engine.stripe.CompareAndWrite;
import lunar.raid.engine.stripe.StripeEngine;
import lunar.raid.engine.stripe.StripeTasks;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Planner;
import lunar.raid.layout.ReshapeMap;
import lunar.raid.layout.Shape;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a volume that are replaced when it grows: layout and engine, and what follows from shape and members.
 *
 * @param migration serves requests while blocks are not in the layout yet; null if all are
 */
record VolumeParts(StripeTasks tasks, Layout layout, Geometry geometry, Limits limits,
        Set<Capability> capabilities, boolean readOnly, @Nullable Migration migration) {
    private static final int MAX_TRANSFER_BYTES = 16 << 20;
    private static final int MAX_ZEROING_BYTES = 1 << 30;
    private static final int DEPTH_PER_MEMBER = 32;

    StripeEngine engine() { return tasks.engine(); }

    /** @param before the body before the volume has grown; null for a new volume */
    static VolumeParts of(Layout layout, Planner planner, List<RaidMember> members,
            RaidOptions options, @Nullable ReshapeState reshaping, @Nullable VolumeParts before) {
        Shape shape = layout.shape();
        int physical = shape.blockSize();
        int alignment = 1;
        boolean isReadOnly = false;
        boolean unmaps = true;
        for (RaidMember member : members) {
            BlockDevice device = member.device();
            if (device != null) {
                physical = Math.max(physical, device.geometry().physicalBlockSize());
                alignment = Math.max(alignment, device.limits().bufferAlignmentBytes());
                isReadOnly |= device.readOnly();
                unmaps &= device.supports(Capability.UNMAP_ZEROES);
            }
        }
        Set<Capability> capabilities = Set.copyOf(unmaps
                ? EnumSet.of(Capability.UNMAP, Capability.UNMAP_ZEROES,
                        Capability.WRITE_ZEROES, Capability.COMPARE_AND_WRITE)
                : EnumSet.of(Capability.WRITE_ZEROES, Capability.COMPARE_AND_WRITE));
        ReshapeMap map = reshaping == null
                ? null
                : ReshapeMap.of(shape, reshaping.slotsBefore());
        var engine = new StripeEngine(layout, planner, members, options,
                map == null ? layout::survives : map::survives,
                before == null ? null : before.engine());
        var tasks = new StripeTasks(engine);
        Migration migration = reshaping == null || map == null
                ? null
                : new Migration(reshaping, map, tasks);
        Layout least = map == null ? layout : map.before();
        return new VolumeParts(tasks, layout,
                new Geometry(shape.blockSize(), least.volumeBlocks(), physical),
                limitsOf(least, unmaps, alignment), capabilities, isReadOnly, migration);
    }

    /** Returns the body once all blocks are in the new layout. */
    VolumeParts migrated() {
        engine().membership.promise(layout::survives);
        Limits all = limitsOf(layout, limits.maxUnmapBlocks() > 0,
                limits.bufferAlignmentBytes());
        return new VolumeParts(tasks, layout,
                new Geometry(geometry.blockSize(), layout.volumeBlocks(),
                        geometry.physicalBlockSize()),
                all, capabilities, readOnly, null);
    }

    private static Limits limitsOf(Layout layout, boolean unmaps, int alignment) {
        Shape shape = layout.shape();
        int blockSize = shape.blockSize();
        int transfer = MAX_TRANSFER_BYTES / blockSize;
        long zeroing = MAX_ZEROING_BYTES / blockSize;
        int compare = Math.min(CompareAndWrite.MAX_BYTES / blockSize, layout.stripeBlocks());
        return new Limits(transfer, Math.min(transfer, layout.stripeBlocks()),
                unmaps ? zeroing : 0, zeroing, compare, DEPTH_PER_MEMBER * shape.members(),
                alignment);
    }

    /**
     * @throws IllegalArgumentException when a member does not fit the shape; the message is one line for an operator
     */
    static void requireMembers(Shape shape, List<RaidMember> members) {
        if (members.size() != shape.members()) {
            throw new IllegalArgumentException("the shape has " + shape.members()
                    + " members, not " + members.size());
        }
        var devices = new ArrayList<BlockDevice>();
        for (int slot = 0; slot < members.size(); slot++) {
            BlockDevice device = members.get(slot).device();
            if (device != null) {
                requireFit(shape, slot, device, members.get(slot).dataOffset());
                if (devices.contains(device)) {
                    throw new IllegalArgumentException(
                            device + " cannot be a member twice");
                }
                devices.add(device);
            }
        }
    }

    static void requireFit(Shape shape, int slot, BlockDevice device, long dataOffset) {
        if (device.blockSize() != shape.blockSize()) {
            throw new IllegalArgumentException(device + " has blocks of " + device.blockSize()
                    + " bytes, not " + shape.blockSize());
        }
        long room = device.blockCount() - dataOffset;
        if (room < shape.memberBlocks().get(slot)) {
            throw new IllegalArgumentException(device + " has room for " + room
                    + " blocks of data, not for " + shape.memberBlocks().get(slot));
        }
    }
}
