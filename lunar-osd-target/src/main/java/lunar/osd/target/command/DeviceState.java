package lunar.osd.target.command;

import java.util.function.Function;
import java.util.function.LongSupplier;
import lunar.block.Identity;
import lunar.osd.store.ObjectStore;
import lunar.osd.target.attribute.ReadCache;
import lunar.osd.target.security.DeviceSecurity;
import lunar.osd.wire.ObjectId;
import lunar.scsi.Bytes;
import lunar.scsi.target.Nexus;

/**
 * State that the commands of a device share. Thread-safe.
 *
 * @param store the objects
 * @param identity identity of the device
 * @param limits limits of the device
 * @param clock the device's clock, in milliseconds since 1970 UTC
 * @param settings settings of objects, which need not exist, so that data commands do not query them
 * @param lists lists that initiators may continue
 * @param threads run the commands
 * @param security which commands are admitted
 * @param tokens returns the security token of an I_T nexus
 */
record DeviceState(ObjectStore store, Identity identity, OsdLimits limits, LongSupplier clock,
        ReadCache<ObjectId, ObjectSettings> settings, ListRegistry lists,
        CommandThreads threads, DeviceSecurity security, Function<Nexus, Bytes> tokens) {
    static DeviceState of(ObjectStore store, Identity identity, OsdLimits limits,
            LongSupplier clock, CommandThreads threads, DeviceSecurity security,
            Function<Nexus, Bytes> tokens) {
        var settings = new ReadCache<ObjectId, ObjectSettings>(OsdLimits.MAX_CACHED_SETTINGS,
                object -> store.<ObjectSettings, RuntimeException>query(
                        objects -> ObjectSettings.of(objects, object)));
        return new DeviceState(store, identity, limits, clock, settings, new ListRegistry(),
                threads, security, tokens);
    }
}
