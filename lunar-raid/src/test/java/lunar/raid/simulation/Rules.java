package lunar.raid.simulation;

import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import lunar.block.BlockDevice;
import lunar.raid.BadBlockList;
import lunar.raid.ReshapeState;
import lunar.raid.StateKeeper;
import lunar.raid.StripeSet;
import lunar.raid.WriteGuard;
import lunar.raid.engine.VolumeEngine;
import lunar.raid.layout.Planner;
import lunar.raid.metadata.record.MetadataLayout;

/** The parts of a volume that a simulation replaces: none, or one by a faulty one, to see that it is detected. */
record Rules(UnaryOperator<Planner> planner, UnaryOperator<WriteGuard> guard,
        UnaryOperator<StateKeeper> keeper, UnaryOperator<ReshapeState.Keeper> reshape,
        UnaryOperator<StripeSet> stale, Consumer<VolumeEngine> volume, Members members,
        Consumer<SimMember> fence, UnaryOperator<BadBlockList> lost) {
    /** Wraps the members that a volume starts with. */
    interface Members {
        BlockDevice over(MetadataLayout layout, int slot, int slots, BlockDevice member);
    }

    /** As it is. */
    static final Rules RIGHT = new Rules(UnaryOperator.identity(), UnaryOperator.identity(),
            UnaryOperator.identity(), UnaryOperator.identity(), UnaryOperator.identity(), _ -> {},
            (_, _, _, member) -> member, SimMember::fence, UnaryOperator.identity());

    static Rules planner(UnaryOperator<Planner> wrong) {
        return new Rules(wrong, RIGHT.guard, RIGHT.keeper, RIGHT.reshape, RIGHT.stale,
                RIGHT.volume, RIGHT.members, RIGHT.fence, RIGHT.lost);
    }

    static Rules guard(UnaryOperator<WriteGuard> wrong) {
        return new Rules(RIGHT.planner, wrong, RIGHT.keeper, RIGHT.reshape, RIGHT.stale,
                RIGHT.volume, RIGHT.members, RIGHT.fence, RIGHT.lost);
    }

    static Rules keeper(UnaryOperator<StateKeeper> wrong) {
        return new Rules(RIGHT.planner, RIGHT.guard, wrong, RIGHT.reshape, RIGHT.stale,
                RIGHT.volume, RIGHT.members, RIGHT.fence, RIGHT.lost);
    }

    static Rules reshape(UnaryOperator<ReshapeState.Keeper> wrong) {
        return new Rules(RIGHT.planner, RIGHT.guard, RIGHT.keeper, wrong, RIGHT.stale,
                RIGHT.volume, RIGHT.members, RIGHT.fence, RIGHT.lost);
    }

    /** Which stripes are to be compared after a start. */
    static Rules stale(UnaryOperator<StripeSet> wrong) {
        return new Rules(RIGHT.planner, RIGHT.guard, RIGHT.keeper, RIGHT.reshape, wrong,
                RIGHT.volume, RIGHT.members, RIGHT.fence, RIGHT.lost);
    }

    /** Changes a volume that has grown, or was opened. */
    static Rules volume(Consumer<VolumeEngine> wrong) {
        return new Rules(RIGHT.planner, RIGHT.guard, RIGHT.keeper, RIGHT.reshape, RIGHT.stale,
                wrong, RIGHT.members, RIGHT.fence, RIGHT.lost);
    }

    static Rules members(Members wrong) {
        return new Rules(RIGHT.planner, RIGHT.guard, RIGHT.keeper, RIGHT.reshape, RIGHT.stale,
                RIGHT.volume, wrong, RIGHT.fence, RIGHT.lost);
    }

    /** Ends a member's earlier requests when it is opened anew. */
    static Rules fence(Consumer<SimMember> wrong) {
        return new Rules(RIGHT.planner, RIGHT.guard, RIGHT.keeper, RIGHT.reshape, RIGHT.stale,
                RIGHT.volume, RIGHT.members, wrong, RIGHT.lost);
    }

    /** The list of blocks that have lost their content. */
    static Rules lost(UnaryOperator<BadBlockList> wrong) {
        return new Rules(RIGHT.planner, RIGHT.guard, RIGHT.keeper, RIGHT.reshape, RIGHT.stale,
                RIGHT.volume, RIGHT.members, RIGHT.fence, wrong);
    }
}
