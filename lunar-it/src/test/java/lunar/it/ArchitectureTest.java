package lunar.it;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Enforces the allowed dependencies between packages, in addition to those that the module descriptors enforce. */
class ArchitectureTest {
    /** Lunar's modules that a module may use, and what else it may; those that are not here may use anything. */
    private record Rule(List<String> modules, String... others) {}

    private static final Map<String, Rule> RULES = Map.ofEntries(
            Map.entry("block", new Rule(List.of())),
            Map.entry("filter", new Rule(List.of("block"), "javax.crypto..")), // the encrypting filter
            Map.entry("scsi", new Rule(List.of())),
            Map.entry("iscsi", new Rule(List.of("scsi"))),
            Map.entry("loop", new Rule(List.of("iscsi", "scsi"))),
            Map.entry("tls", new Rule(List.of(), "javax.net.ssl..")),
            Map.entry("tcp", new Rule(List.of("loop", "iscsi", "scsi", "tls"), "javax.net.ssl..")),
            Map.entry("iser", new Rule(List.of("loop", "rdma", "iscsi", "scsi"))),
            Map.entry("isns", new Rule(List.of())),
            Map.entry("osd", new Rule(List.of("scsi"), "javax.crypto..")), // its integrity check values
            Map.entry("osd.store", new Rule(List.of("block", "scsi", "osd"),
                    "javax.sql..", "org.sqlite..")),
            Map.entry("osd.target", new Rule(
                    List.of("block", "scsi", "scsi.target", "osd", "osd.store"))), // never how commands come
            Map.entry("osd.client", new Rule(
                    List.of("block", "scsi", "iscsi", "initiator", "osd"))),
            Map.entry("osd.s3", new Rule(List.of("block", "scsi", "osd", "osd.client"),
                    "com.sun.net.httpserver..", "javax.crypto..", "javax.xml.stream..")),
            Map.entry("rdma", new Rule(List.of())),
            Map.entry("fs", new Rule(List.of("block"))),
            Map.entry("raid", new Rule(List.of("block"))), // never what its members are
            Map.entry("store", new Rule(List.of("block"), "com.sun.nio.file")), // the option for direct I/O
            Map.entry("initiator", new Rule(List.of("block", "scsi", "iscsi"))),
            Map.entry("lucene", new Rule(List.of("block"), "org.apache.lucene..")),
            Map.entry("scsi.target", new Rule(List.of("block", "scsi"))), // never how commands come
            Map.entry("target", new Rule(List.of("block", "scsi", "scsi.target", "iscsi"),
                    "jdk.jfr..")), // events of commands
            Map.entry("server", new Rule(
                    List.of("block", "scsi", "scsi.target", "iscsi", "isns", "target"))),
            Map.entry("admin", new Rule(
                    List.of("block", "scsi", "scsi.target", "iscsi", "isns", "target", "server",
                            "raid", "tls"),
                    "io.helidon..", "io.prometheus..", "tools.jackson..", "jdk.net..",
                    "javax.net.ssl..")),
            Map.entry("testkit", new Rule(List.of("block", "scsi", "scsi.target", "iscsi", "loop"),
                    "org.junit.jupiter.api..", "org.assertj.core..")));
    private static final String[] PROGRAMS = {"lunar.cli..", "lunar.bench..", "lunar.it..",
            "lunar.admin.."};

    /** Most classes that may know each other. */
    private static final int MAX_KNOT = 8;

    /** Classes of an API package that create what packages below it implement; nothing refers to them. */
    private static final Set<String> FACTORIES = Set.of("lunar.raid.Raid",
            "lunar.osd.store.ObjectStores");

    private static JavaClasses lunar;

    @BeforeAll
    static void read() {
        lunar = new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("lunar");
    }

    static Stream<String> modules() { return RULES.keySet().stream().sorted(); }

    @Test
    void shouldCoverEveryModule() {
        assertThat(lunar).extracting(one -> one.getPackageName()).contains("lunar.block",
                "lunar.block.channel", "lunar.filter",
                "lunar.scsi", "lunar.scsi.block", "lunar.scsi.command", "lunar.iscsi",
                "lunar.iscsi.spi", "lunar.loop", "lunar.tls", "lunar.tcp", "lunar.iser",
                "lunar.isns", "lunar.osd.wire", "lunar.osd.store", "lunar.osd.target",
                "lunar.osd.client",
                "lunar.osd.s3",
                "lunar.rdma",
                "lunar.fs", "lunar.raid", "lunar.raid.layout", "lunar.raid.engine",
                "lunar.raid.metadata", "lunar.raid.metadata.record", "lunar.raid.service",
                "lunar.store", "lunar.scsi.target", "lunar.scsi.target.block", "lunar.target",
                "lunar.target.internal.session", "lunar.target.internal.task", "lunar.server",
                "lunar.admin", "lunar.testkit", "lunar.lucene");
    }

    @ParameterizedTest
    @MethodSource("modules")
    void shouldDependOnLowerLayersOnly(String module) {
        Rule rule = RULES.get(module);
        var allowed = new ArrayList<>(List.of("java..", "org.jspecify.."));
        allowed.addAll(List.of(in(module)));
        rule.modules().forEach(other -> allowed.addAll(List.of(in(other))));
        allowed.addAll(List.of(rule.others()));

        classes().that().resideInAnyPackage(in(module)).should().onlyDependOnClassesThat()
                .resideInAnyPackage(allowed.toArray(String[]::new)).allowEmptyShould(true)
                .check(lunar);
    }

    /** Packages of a module; the names of those of scsi.target, another one, begin like those of scsi. */
    private static String[] in(String module) {
        String root = "lunar." + module;
        List<String> others = modules().filter(other -> other.startsWith(module + "."))
                .map(other -> "lunar." + other).toList();
        return others.isEmpty()
                ? new String[]{root + ".."}
                : packagesBelow(root)
                        .filter(name -> others.stream().noneMatch(other -> isBelow(name, other)))
                        .toArray(String[]::new);
    }

    private static Stream<String> packagesBelow(String root) {
        return lunar.stream().map(JavaClass::getPackageName).distinct()
                .filter(name -> isBelow(name, root));
    }

    private static boolean isBelow(String name, String root) {
        return name.equals(root) || name.startsWith(root + ".");
    }

    /** Bytes and time go in, actions come out; that is what lets a simulation run both ends. */
    @Test
    void shouldKeepSocketsClocksAndThreadsOutOfProtocolCore() {
        noClasses().that().resideInAnyPackage(in("scsi")).or()
                .resideInAnyPackage("lunar.osd.wire..", "lunar.osd.security..").or()
                .resideInAnyPackage(
                        packagesBelow("lunar.iscsi")
                                .filter(name -> !isBelow(name, "lunar.iscsi.spi"))
                                .toArray(String[]::new))
                .should()
                .dependOnClassesThat(resideInAnyPackage("java.net..", "java.nio.channels..",
                        "java.util.concurrent.locks..").or(assignableTo(Thread.class))
                        .or(assignableTo(Executor.class)).or(assignableTo(SecureRandom.class)))
                .orShould().callMethod(System.class, "nanoTime")
                .orShould().callMethod(System.class, "currentTimeMillis").check(lunar);
    }

    /** Volumes use the clocks and threads passed to them, so that a seed replays a whole volume. */
    @Test
    void shouldKeepClocksAndThreadsOutOfVolumes() {
        noClasses().that().resideInAnyPackage(belowTheService()).should()
                .dependOnClassesThat(resideInAnyPackage("java.net..", "java.nio.channels..")
                        .or(assignableTo(SecureRandom.class)))
                .orShould().callMethod(Thread.class, "sleep", long.class)
                .orShould().callMethod(Thread.class, "ofPlatform")
                .orShould().callMethod(Thread.class, "ofVirtual")
                .orShould().callConstructor(Thread.class, Runnable.class)
                .orShould().callMethod(System.class, "nanoTime")
                .orShould().callMethod(System.class, "currentTimeMillis").check(lunar);
    }

    private static String[] belowTheService() {
        return packagesBelow("lunar.raid").filter(name -> !isBelow(name, "lunar.raid.service"))
                .toArray(String[]::new);
    }

    /**
     * References go one way: few classes know each other in a circle. Nested classes count as the one around them, and
     * a sealed type may name those that it permits.
     */
    @ParameterizedTest
    @MethodSource("modulesWithoutKnots")
    void shouldHaveNoKnots(String module) {
        var references = new HashMap<String, Set<String>>();
        for (JavaClass each : lunar.that(resideInAnyPackage(in(module)))) {
            Set<String> permitted = permitted(each);
            Set<String> others = references.computeIfAbsent(outermost(each),
                    _ -> new HashSet<>());
            each.getDirectDependenciesFromSelf().stream().map(Dependency::getTargetClass)
                    .filter(resideInAnyPackage(in(module))).map(ArchitectureTest::outermost)
                    .filter(other -> !permitted.contains(other)).forEach(others::add);
        }
        var reached = new HashMap<String, Set<String>>();
        references.keySet().forEach(from -> reached.put(from, reachable(from, references)));
        reached.forEach((from, all) -> assertThat(all.stream().filter(
                other -> reached.getOrDefault(other, Set.of()).contains(from)))
                .as("classes that know each other, with " + from)
                .hasSizeLessThanOrEqualTo(MAX_KNOT));
    }

    /** Packages build on each other in one direction. */
    @ParameterizedTest
    @ValueSource(strings = {"scsi", "osd", "osd.store", "osd.target", "osd.client", "osd.s3",
            "iscsi", "raid", "admin",
            "cli", "bench"})
    void shouldHaveNoCyclesOfPackages(String module) {
        var references = new HashMap<String, Set<String>>();
        for (JavaClass each : lunar.that(resideInAnyPackage(in(module)))) {
            if (FACTORIES.contains(each.getName())) {
                continue;
            }
            String here = each.getPackageName();
            each.getDirectDependenciesFromSelf().stream().map(Dependency::getTargetClass)
                    .filter(resideInAnyPackage(in(module))).map(JavaClass::getPackageName)
                    .filter(other -> !other.equals(here))
                    .forEach(references.computeIfAbsent(here, _ -> new HashSet<>())::add);
        }
        references.keySet().forEach(from -> assertThat(reachable(from, references))
                .as("packages that " + from + " depends on").doesNotContain(from));
    }

    @Test
    void shouldNotReferToFactories() {
        FACTORIES.forEach(factory -> noClasses().that()
                .resideInAPackage(factory.substring(0, factory.lastIndexOf('.')) + "..").and()
                .doNotHaveFullyQualifiedName(factory).should().dependOnClassesThat()
                .haveFullyQualifiedName(factory).check(lunar));
    }

    static Stream<String> modulesWithoutKnots() {
        return Stream.of("block", "filter", "scsi", "scsi.target", "osd", "osd.store",
                "osd.target", "osd.client", "osd.s3", "iscsi", "loop", "tcp", "isns", "fs", "store",
                "raid",
                "rdma", "lucene", "target", "server", "admin", "testkit",
                "initiator", "cli");
    }

    /** The API starts sessions, sessions have tasks; what is below sees what is above through interfaces of its own. */
    @Test
    void shouldReferOneWayInTarget() {
        noClasses().that().resideInAPackage("lunar.target.internal..").should()
                .dependOnClassesThat().haveNameMatching("lunar\\.target\\.TargetServer(\\$.*)?")
                .check(lunar);
        noClasses().that().resideInAPackage("lunar.target.internal.task..").should()
                .dependOnClassesThat().resideInAPackage("lunar.target.internal.session..")
                .check(lunar);
    }

    private static Set<String> reachable(String from, Map<String, Set<String>> references) {
        var found = new HashSet<String>();
        var open = new ArrayDeque<>(references.getOrDefault(from, Set.of()));
        while (!open.isEmpty()) {
            String next = open.remove();
            if (found.add(next)) {
                open.addAll(references.getOrDefault(next, Set.of()));
            }
        }
        return found;
    }

    private static String outermost(JavaClass of) { return of.getName().replaceFirst("\\$.*", ""); }

    private static Set<String> permitted(JavaClass of) {
        Class<?>[] kinds = of.reflect().getPermittedSubclasses();
        return kinds == null
                ? Set.of()
                : Arrays.stream(kinds).map(Class::getName).collect(Collectors.toSet());
    }

    @Test
    void shouldPrintNowhereButInPrograms() {
        noClasses().that().resideOutsideOfPackages(PROGRAMS).should()
                .accessField(System.class, "out").orShould().accessField(System.class, "err")
                .check(lunar);
    }

    @Test
    void shouldLogThroughThePlatformOnly() {
        noClasses().that().resideOutsideOfPackages(PROGRAMS)
                .and().resideOutsideOfPackage("lunar.testkit..") // which reads what others log
                .should().dependOnClassesThat()
                .resideInAnyPackage("org.slf4j..", "ch.qos..", "java.util.logging..").check(lunar);
    }

    @Test
    void shouldNotDependOnPrograms() {
        noClasses().that().resideOutsideOfPackages(PROGRAMS).should().dependOnClassesThat()
                .resideInAnyPackage(PROGRAMS).check(lunar);
    }
}
