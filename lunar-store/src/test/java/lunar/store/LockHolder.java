package lunar.store;

import java.io.IOException;
import java.nio.file.Path;

/** Another process that has a file open as a device, until its standard input ends. */
final class LockHolder {
    private LockHolder() {}

    public static void main(String[] arguments) throws IOException {
        FileOptions options = FileOptions.BUFFERED.readOnly(arguments[1].equals("shared"));
        try (FileDevice device = FileDevice.open(Path.of(arguments[0]), options)) {
            System.out.println("locked");
            while (System.in.read() >= 0) {
                device.flush();
            }
        }
    }
}
