package lunar.store;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.locks.StampedLock;
import java.util.function.BooleanSupplier;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceLabels;

/**
 * Labels of a device that may be closed meanwhile, and its descriptor with it.
 *
 * @param gate shared by calls, exclusive to close
 * @param closed whether the device is closed; changes under the gate
 */
record GatedLabels(DeviceLabels labels, StampedLock gate, BooleanSupplier closed)
        implements
        DeviceLabels {
    @Override
    public Optional<String> read(String name) throws IOException {
        long entered = gate.readLock();
        try {
            requireOpen();
            return labels.read(name);
        } finally {
            gate.unlockRead(entered);
        }
    }

    @Override
    public void write(String name, String value) throws IOException {
        long entered = gate.readLock();
        try {
            requireOpen();
            labels.write(name, value);
        } finally {
            gate.unlockRead(entered);
        }
    }

    private void requireOpen() throws DeviceGoneException {
        if (closed.getAsBoolean()) {
            throw new DeviceGoneException("the device of these labels is closed");
        }
    }
}
