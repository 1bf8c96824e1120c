package lunar.osd.target;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Optional;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;

/** Stores in memory that tests intervene in. */
final class InterceptedStore {
    /** Is called before a method; a result is returned instead of that of the method. */
    @FunctionalInterface
    interface Interceptor {
        Optional<Object> before(ObjectStore store, Object... arguments) throws Exception;
    }

    private InterceptedStore() {}

    /** Returns a store with an interceptor for calls of a method. */
    static ObjectStore of(String method, Interceptor interceptor) {
        ObjectStore store = ObjectStores.inMemory();
        return (ObjectStore) Proxy.newProxyInstance(ObjectStore.class.getClassLoader(),
                new Class<?>[]{ObjectStore.class}, (_, called, arguments) -> {
                    if (called.getName().equals(method)) {
                        Optional<Object> result = interceptor.before(store, arguments);
                        if (result.isPresent()) {
                            return result.get();
                        }
                    }
                    try {
                        return called.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
