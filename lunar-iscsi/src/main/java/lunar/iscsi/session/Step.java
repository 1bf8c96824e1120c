package lunar.iscsi.session;

import java.util.Arrays;
import java.util.List;

/**
 * Result of a state machine's transition.
 *
 * @param state the new state
 * @param actions actions to perform, in this order
 */
public record Step<S, A>(S state, List<A> actions) {
    public Step {
        actions = List.copyOf(actions);
    }

    @SafeVarargs
    @SuppressWarnings("varargs") // only read, element by element
    static <S, A> Step<S, A> to(S state, A... actions) {
        return new Step<>(state, Arrays.stream(actions).toList());
    }
}
