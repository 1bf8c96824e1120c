package lunar.iscsi.session;

import java.util.Arrays;
import java.util.List;

/**
 * Step of a state machine.
 *
 * @param state the state from now on
 * @param actions what the shell is to do, in this order
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
