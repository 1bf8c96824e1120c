package lunar.it;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import lunar.osd.store.Growth;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.wire.ObjectId;

/** A store in memory that can lose writes that were not flushed, as a power failure does: they read as zeros. */
final class PowerLossStore {
    private record Write(long offset, long bytes) {}

    private long writtenBytes;
    private final ObjectStore behind = ObjectStores.inMemory();
    private final Map<ObjectId, List<Write>> unflushed = new ConcurrentHashMap<>();
    private final ObjectStore store = (ObjectStore) Proxy.newProxyInstance(
            ObjectStore.class.getClassLoader(), new Class<?>[]{ObjectStore.class},
            (_, method, arguments) -> {
                Object result;
                try {
                    result = method.invoke(behind, arguments);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
                note(method.getName(), arguments == null ? new Object[0] : arguments);
                return result;
            });

    /** The store to serve. */
    ObjectStore store() { return store; }

    private synchronized void note(String method, Object... arguments) {
        switch (method) {
            case "write" -> {
                var write = new Write((long) arguments[1],
                        ((MemorySegment) arguments[2]).byteSize());
                unflushed.computeIfAbsent((ObjectId) arguments[0], _ -> new ArrayList<>())
                        .add(write);
                writtenBytes += write.bytes();
            }
            case "flush" -> {
                if (arguments.length == 0) {
                    unflushed.clear();
                } else {
                    unflushed.remove((ObjectId) arguments[0]);
                }
            }
            default -> {
                // concerns no data, or is not lost
            }
        }
    }

    /** Returns the number of bytes that were ever written, flushed or not. */
    synchronized long writtenBytes() {
        return writtenBytes;
    }

    /** Loses what was not flushed; returns how many bytes. */
    synchronized long dropUnflushed() throws Exception {
        long lost = 0;
        for (var each : unflushed.entrySet()) {
            for (Write write : each.getValue()) {
                behind.zero(each.getKey(), write.offset(), write.bytes(), Growth.UNLIMITED);
                lost += write.bytes();
            }
        }
        unflushed.clear();
        return lost;
    }
}
