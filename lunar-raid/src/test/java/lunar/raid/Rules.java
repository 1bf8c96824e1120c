package lunar.raid;

import java.util.function.UnaryOperator;
import lunar.raid.layout.Planner;

/** What of a volume a simulation replaces: nothing, or one thing that is done wrong, to see that it is found. */
record Rules(UnaryOperator<Planner> planner, UnaryOperator<WriteGuard> guard,
        UnaryOperator<StateKeeper> keeper, UnaryOperator<Reshaping.Keeper> reshape) {
    /** As it is. */
    static final Rules RIGHT = new Rules(UnaryOperator.identity(), UnaryOperator.identity(),
            UnaryOperator.identity(), UnaryOperator.identity());

    static Rules planner(UnaryOperator<Planner> wrong) {
        return new Rules(wrong, UnaryOperator.identity(), UnaryOperator.identity(),
                UnaryOperator.identity());
    }

    static Rules guard(UnaryOperator<WriteGuard> wrong) {
        return new Rules(UnaryOperator.identity(), wrong, UnaryOperator.identity(),
                UnaryOperator.identity());
    }

    static Rules keeper(UnaryOperator<StateKeeper> wrong) {
        return new Rules(UnaryOperator.identity(), UnaryOperator.identity(), wrong,
                UnaryOperator.identity());
    }

    static Rules reshape(UnaryOperator<Reshaping.Keeper> wrong) {
        return new Rules(UnaryOperator.identity(), UnaryOperator.identity(),
                UnaryOperator.identity(), wrong);
    }
}
