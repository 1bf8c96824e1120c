package lunar.it.faults;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;

/** Libraries to preload, compiled from C sources in the test resources. */
final class Preload {
    private Preload() {}

    /** Why there can be none; empty if there can. */
    static String missing() {
        boolean there = Arrays.stream(System.getenv("PATH").split(":"))
                .anyMatch(each -> Files.isExecutable(Path.of(each, "cc")));
        return there ? "" : "no C compiler (package gcc)";
    }

    /** Compiles a source of {@code resources/faults} to a library in the lab's folder. */
    static Path compile(Lab lab, String name) throws IOException, InterruptedException {
        Path source = lab.path(name + ".c");
        try (InputStream text = Objects.requireNonNull(
                Preload.class.getResourceAsStream("/faults/" + name + ".c"))) {
            Files.copy(text, source);
        }
        Path library = lab.path(name + ".so");
        Process compiler = new ProcessBuilder("cc", "-shared", "-fPIC", "-O1", "-o",
                library.toString(), source.toString(), "-ldl").inheritIO().start();
        if (compiler.waitFor() != 0) {
            throw new IOException("cc could not compile " + source);
        }
        return library;
    }
}
