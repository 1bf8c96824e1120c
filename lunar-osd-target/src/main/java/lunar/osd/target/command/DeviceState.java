package lunar.osd.target.command;

import java.util.function.Function;
import java.util.function.LongSupplier;
import lunar.block.Identity;
import lunar.osd.store.ObjectStore;
import lunar.osd.target.security.DeviceSecurity;
import lunar.scsi.Bytes;
import lunar.scsi.target.Nexus;

/**
 * State that the commands of a device share. Thread-safe.
 *
 * @param store the objects
 * @param identity identity of the device
 * @param limits limits of the device
 * @param clock the device's clock, in milliseconds since 1970 UTC
 * @param settings cached settings of objects
 * @param lists lists that initiators may continue
 * @param threads run the commands
 * @param security which commands are admitted
 * @param tokens returns the security token of an I_T nexus
 */
record DeviceState(ObjectStore store, Identity identity, OsdLimits limits, LongSupplier clock,
        SettingsCache settings, ListRegistry lists,
        CommandThreads threads, DeviceSecurity security, Function<Nexus, Bytes> tokens) {
    static DeviceState of(ObjectStore store, Identity identity, OsdLimits limits,
            LongSupplier clock, CommandThreads threads, DeviceSecurity security,
            Function<Nexus, Bytes> tokens) {
        return new DeviceState(store, identity, limits, clock, new SettingsCache(store),
                new ListRegistry(), threads, security, tokens);
    }
}
