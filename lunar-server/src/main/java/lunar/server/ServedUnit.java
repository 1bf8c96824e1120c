package lunar.server;

import lunar.block.DeviceUri;

/**
 * A logical unit that a server serves.
 *
 * @param iqn name of its target
 * @param lun its LUN
 * @param uri URI of its device, as in the plan; may contain a secret ({@link DeviceUri#withoutSecret})
 * @param sizeBytes its size; -1 if it is unknown
 */
public record ServedUnit(String iqn, int lun, String uri, long sizeBytes) {
    /** Returns a unit of a plan: with the size that its URI asks for, -1 if it asks for none. */
    public static ServedUnit planned(String iqn, int lun, String uri) {
        return new ServedUnit(iqn, lun, uri,
                DeviceKey.of(iqn, lun, uri).sizeBytes().orElse(-1L));
    }

    /** Whether both are on one device, which may have been resized. */
    public boolean isSameDevice(ServedUnit other) {
        return DeviceKey.of(iqn, lun, uri)
                .isSameDevice(DeviceKey.of(other.iqn, other.lun, other.uri));
    }

    /** Returns the unit without the secret that its URI may hold. */
    @Override
    public String toString() {
        return iqn + " lun " + lun + " " + DeviceUri.withoutSecret(uri) + " of " + sizeBytes
                + " bytes";
    }
}
