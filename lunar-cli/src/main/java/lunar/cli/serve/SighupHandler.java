package lunar.cli.serve;

import java.lang.reflect.Proxy;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs an action at each SIGHUP until it is closed. Uses {@code sun.misc.Signal}, the only API for signals, which is
 * looked up by name because the compiler's warning about its package cannot be suppressed.
 */
final class SighupHandler implements AutoCloseable {
    private final Class<?> signals;
    private final Class<?> handlers;
    private final Object signal;
    private final Object before;

    private SighupHandler(Class<?> signals, Class<?> handlers, Runnable action)
            throws ReflectiveOperationException {
        this.signals = signals;
        this.handlers = handlers;
        signal = signals.getConstructor(String.class).newInstance("HUP");
        before = handle(Proxy.newProxyInstance(handlers.getClassLoader(), new Class<?>[]{handlers},
                (self, method, arguments) -> switch (method.getName()) {
                    case "handle" -> {
                        action.run();
                        yield null;
                    }
                    case "equals" -> isSame(self, arguments);
                    case "hashCode" -> System.identityHashCode(self);
                    default -> "at SIGHUP";
                }));
    }

    /**
     * @param action runs on a separate thread each time
     * @return empty if the system has no such signal, the JVM reserves signals ({@code -Xrs}), or the process was
     *         started with SIGHUP ignored (nohup)
     */
    static Optional<SighupHandler> at(Runnable action) {
        try {
            Class<?> handlers = Class.forName("sun.misc.SignalHandler");
            var made = new SighupHandler(Class.forName("sun.misc.Signal"), handlers, action);
            return made.before.equals(handlers.getField("SIG_IGN").get(null))
                    ? Optional.empty() // the JVM leaves it so
                    : Optional.of(made);
        } catch (ReflectiveOperationException e) {
            System.getLogger("lunar.cli").log(System.Logger.Level.DEBUG, "no SIGHUP here", e);
            return Optional.empty();
        }
    }

    @SuppressWarnings("ReferenceEquality") // which is what equals means here
    private static boolean isSame(Object self, Object @Nullable [] arguments) {
        return arguments != null && arguments.length == 1 && arguments[0] == self;
    }

    private Object handle(Object handler) throws ReflectiveOperationException {
        return signals.getMethod("handle", signals, handlers).invoke(null, signal, handler);
    }

    /** Restores the previous handler of the signal. */
    @Override
    public void close() {
        try {
            Object _ = handle(before);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("SIGHUP", e); // it was possible before
        }
    }
}
