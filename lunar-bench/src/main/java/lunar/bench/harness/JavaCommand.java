package lunar.bench.harness;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Builds the command line of a Java process of the benchmark. */
public final class JavaCommand {
    private JavaCommand() {}

    /** Runs a class of this module, with the options of the JVM that {@code lunar serve} has. */
    public static List<String> of(Class<?> main, String... args) {
        return of(List.of(), main, args);
    }

    /** @param jvm more options of the JVM */
    public static List<String> of(List<String> jvm, Class<?> main, String... args) {
        var command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(jvm);
        command.addAll(List.of("-XX:+UseShenandoahGC", "-XX:TrimNativeHeapInterval=30000",
                "--enable-native-access=lunar.bench,lunar.rdma,lunar.store,lunar.tcp",
                "--module-path",
                System.getProperty("jdk.module.path", ""), "--add-modules",
                "lunar.store,lunar.tcp", "--module", "lunar.bench/" + main.getName()));
        command.addAll(List.of(args));
        return command;
    }
}
