package lunar.store;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.locks.StampedLock;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceLabels;

/**
 * Labels of a device that may be closed concurrently, together with its descriptor.
 *
 * @param gate shared by calls, exclusive to close
 * @param check checked by each call while it holds its share of the gate
 */
record GatedLabels(DeviceLabels labels, StampedLock gate, Check check)
        implements
        DeviceLabels {
    /** Whether the device can be used. */
    @FunctionalInterface
    interface Check {
        /** @throws DeviceGoneException once it is closed or lost, with the reason */
        void requireOpen() throws DeviceGoneException;
    }

    @Override
    public Optional<String> read(String name) throws IOException {
        long entered = gate.readLock();
        try {
            check.requireOpen();
            return labels.read(name);
        } finally {
            gate.unlockRead(entered);
        }
    }

    @Override
    public void write(String name, String value) throws IOException {
        long entered = gate.readLock();
        try {
            check.requireOpen();
            labels.write(name, value);
        } finally {
            gate.unlockRead(entered);
        }
    }
}
