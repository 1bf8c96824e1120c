package lunar.store;

import java.io.IOException;
import java.nio.file.Path;

/** Process that holds a file open as a device until its standard input ends. */
final class LockHolder {
    private LockHolder() {}

    /** Starts one that prints "locked" when it has the file, {@code exclusive} or {@code shared}. */
    static Process start(Path file, String mode) throws IOException {
        return new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                System.getProperty("java.class.path"), LockHolder.class.getName(),
                file.toString(), mode).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    public static void main(String[] arguments) throws IOException {
        FileOptions options = FileOptions.BUFFERED.withReadOnly(arguments[1].equals("shared"));
        try (FileDevice device = FileDevice.open(Path.of(arguments[0]), options)) {
            System.out.println("locked");
            while (System.in.read() >= 0) {
                device.flush();
            }
        }
    }
}
