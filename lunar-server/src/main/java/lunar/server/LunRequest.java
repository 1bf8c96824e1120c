package lunar.server;

import java.util.OptionalInt;

/** Asks a running server to change a LUN, until it ends; see {@link StorageServer#change}. */
public sealed interface LunRequest {
    /**
     * Serves another device.
     *
     * @param iqn name of a target that is served
     * @param lun its new LUN, 0 to 16383; empty for the one after the highest that the target has
     *        served since the server started
     * @param device the device
     */
    record Add(String iqn, OptionalInt lun, ServerPlan.Lun device) implements LunRequest {}

    /**
     * Serves a LUN no longer.
     *
     * @param iqn name of its target
     */
    record Remove(String iqn, int lun) implements LunRequest {}

    /**
     * Grows the device of a LUN, and with it every other LUN on that device.
     *
     * @param iqn name of its target
     * @param sizeBytes its new size, a multiple of 512
     */
    record Resize(String iqn, int lun, long sizeBytes) implements LunRequest {}

    /** Returns the name of the target. */
    String iqn();
}
