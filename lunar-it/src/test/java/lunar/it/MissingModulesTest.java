package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.spi.DeviceProvider;
import lunar.block.spi.FilterProvider;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.TransportProvider;
import lunar.iscsi.spi.Transports;
import lunar.isns.IsnsException;
import lunar.scsi.Lun;
import lunar.scsi.target.UnitSpec;
import lunar.scsi.target.spi.UnitProvider;
import lunar.server.PlanCheck;
import lunar.target.TargetServer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A program without a module is told its coordinates. Covers everything that a module of Lunar provides, except the
 * test kit's: what is new must be in the tables of {@code ProvidingModules}, {@code Transports} or
 * {@code ServedSource}.
 */
class MissingModulesTest {
    private static final Path BOM = Path.of("..", "lunar-bom", "pom.xml");

    static Stream<Arguments> devices() {
        return ServiceLoader.load(DeviceProvider.class).stream().map(ServiceLoader.Provider::get)
                .flatMap(each -> each.schemes().stream()
                        .map(scheme -> Arguments.of(scheme, artifact(each))));
    }

    static Stream<Arguments> filters() {
        return ServiceLoader.load(FilterProvider.class).stream().map(ServiceLoader.Provider::get)
                .flatMap(each -> each.names().stream()
                        .map(name -> Arguments.of(name, artifact(each))));
    }

    static Stream<Arguments> transports() {
        return ServiceLoader.load(TransportProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .map(each -> Arguments.of(each.scheme(), artifact(each)))
                .filter(MissingModulesTest::isForUsers);
    }

    static Stream<Arguments> units() {
        return ServiceLoader.load(UnitProvider.class).stream().map(ServiceLoader.Provider::get)
                .flatMap(each -> each.schemes().stream()
                        .map(scheme -> Arguments.of(scheme, artifact(each))))
                .filter(MissingModulesTest::isForUsers);
    }

    private static boolean isForUsers(Arguments provided) {
        return !provided.get()[1].equals("lunar-testkit");
    }

    /** The artifact of the BOM that is named like the longest part of a provider's package. */
    private static String artifact(Object provider) {
        String bom;
        try {
            bom = Files.readString(BOM);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        String name = provider.getClass().getPackageName().replace('.', '-');
        while (!bom.contains("<artifactId>" + name + "</artifactId>")) {
            assertThat(name).as("module of " + provider.getClass()).contains("-");
            name = name.substring(0, name.lastIndexOf('-'));
        }
        return name;
    }

    /** A program that has only the modules of these classes. */
    private static URLClassLoader program(Class<?>... ofModules) {
        var locations = new ArrayList<URL>();
        for (Class<?> one : ofModules) {
            locations.add(one.getProtectionDomain().getCodeSource().getLocation());
        }
        return new URLClassLoader(locations.toArray(URL[]::new),
                ClassLoader.getPlatformClassLoader());
    }

    private static void open(String uri) throws Throwable {
        try (URLClassLoader program = program(BlockDevice.class)) {
            call(program, Devices.class, uri, "open");
        }
    }

    private static void call(ClassLoader program, Class<?> type, String uri, String method)
            throws Throwable {
        try {
            program.loadClass(type.getName()).getMethod(method, String.class).invoke(null, uri);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static String missing(String artifact) {
        return "org.lunar:" + artifact + " is missing at run time; add it to the dependencies, and"
                + " on the module path start Java with --add-modules "
                + artifact.replace('-', '.');
    }

    @ParameterizedTest
    @MethodSource("devices")
    void shouldNameModuleOfDevice(String scheme, String artifact) {
        assertThatThrownBy(() -> open(scheme + ":x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("no device of scheme '" + scheme + ":': " + missing(artifact));
    }

    @ParameterizedTest
    @MethodSource("filters")
    void shouldNameModuleOfFilter(String name, String artifact) {
        for (String uri : List.of(name + ":ram:1MiB", name + "=1ms,a=b:file:x")) {
            assertThatThrownBy(() -> open(uri)).isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("no filter '" + name + ":': " + missing(artifact));
        }
    }

    @ParameterizedTest
    @MethodSource("transports")
    void shouldNameModuleOfTransport(String scheme, String artifact) throws Exception {
        try (URLClassLoader program = program(Transports.class, Lun.class)) {
            Class<?> options = program.loadClass(LoopOptions.class.getName());
            Class<?> type = program.loadClass(Transports.class.getName());
            Object transports = type.getConstructor(String.class, options).newInstance("test",
                    options.getMethod("of", int.class).invoke(null, 1));
            var loops = type.getMethod("loops", String.class);
            String advice = missing(artifact);
            assertThatThrownBy(() -> loops.invoke(transports, scheme)).cause()
                    .isInstanceOf(IOException.class)
                    .hasMessage("no transport for " + scheme + ": " + (artifact.equals("lunar-tcp")
                            ? advice.replace("add it", "add it, or org.lunar:lunar-starter,")
                            : advice));
            assertThatThrownBy(() -> loops.invoke(transports, "quic")).cause()
                    .hasMessage("no transport for quic; available: none");
        }
    }

    @ParameterizedTest
    @MethodSource("units")
    void shouldNameModuleOfUnit(String scheme, String artifact) throws Exception {
        try (URLClassLoader program = program(PlanCheck.class, TargetServer.class,
                Transports.class, Lun.class, UnitSpec.class, BlockDevice.class,
                IsnsException.class)) {
            assertThatThrownBy(() -> call(program, PlanCheck.class, scheme + ":x", "device"))
                    .hasMessageContaining(
                            "no unit of scheme '" + scheme + ":': " + missing(artifact));
        }
    }
}
