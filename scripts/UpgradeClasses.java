import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * Upgrades the class files of a jar that are older than version 50 to version 52, adding the stack maps that it
 * requires, and says so in the manifest. The JVM stores only classes with stack maps in an ahead-of-time cache, and
 * checks others at each start with a slower verifier. Behavior is unchanged. An upgraded jar stays as it is.
 *
 * <pre>java UpgradeClasses.java JAR</pre>
 */
final class UpgradeClasses {
    private static final String MANIFEST = "META-INF/MANIFEST.MF";
    private static final String CHANGES = "Changes-By-Lunar";
    /** Offset of the major version in a class file (JVMS 4.1). */
    private static final int VERSION_AT = 6;
    /** The first version whose classes may have stack maps (JVMS 4.10). */
    private static final int FIRST_WITH_MAPS = ClassFile.JAVA_6_VERSION;

    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final ClassFile classes = ClassFile.of(ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
            ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver
                    .ofResourceParsing(type -> open(type.displayName(), type.packageName()))
                    .orElse(ClassHierarchyResolver.defaultResolver())));

    private record Entry(ZipEntry header, byte[] content) {
        boolean isOld() {
            return header.getName().endsWith(".class")
                    && ByteBuffer.wrap(content).getShort(VERSION_AT) < FIRST_WITH_MAPS;
        }
    }

    private UpgradeClasses() {}

    public static void main(String[] args) throws IOException {
        if (args.length != 1) {
            System.err.println("usage: java UpgradeClasses.java JAR");
            System.exit(2);
        }
        Path jar = Path.of(args[0]);
        var upgrade = new UpgradeClasses();
        upgrade.read(jar);
        long old = upgrade.entries.values().stream().filter(Entry::isOld).count();
        if (old > 0) {
            Path upgraded = jar.resolveSibling(jar.getFileName() + ".new");
            try {
                upgrade.write(upgraded);
                Files.move(upgraded, jar, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(upgraded);
            }
        }
        System.out.println(jar.getFileName() + ": " + old + " classes upgraded");
    }

    /** Returns the class file in this jar, or null if it is elsewhere. */
    private InputStream open(String name, String packageName) {
        Entry found = entries.get(packageName.replace('.', '/') + "/" + name + ".class");
        return found == null ? null : new ByteArrayInputStream(found.content);
    }

    private void read(Path jar) throws IOException {
        try (var in = new ZipInputStream(Files.newInputStream(jar))) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                entries.put(entry.getName(), new Entry(entry, in.readAllBytes()));
            }
        }
    }

    /** Writes entries in their order and with their times, so that equal input gives an equal jar. */
    private void write(Path jar) throws IOException {
        try (var out = new ZipOutputStream(Files.newOutputStream(jar))) {
            for (Entry entry : entries.values()) {
                var header = new ZipEntry(entry.header.getName());
                header.setTime(entry.header.getTime());
                out.putNextEntry(header);
                out.write(changed(entry));
                out.closeEntry();
            }
        }
    }

    private byte[] changed(Entry entry) throws IOException {
        if (entry.header.getName().equals(MANIFEST)) {
            var manifest = new Manifest(new ByteArrayInputStream(entry.content));
            manifest.getMainAttributes().putValue(CHANGES,
                    "class files upgraded to version 52, with stack maps");
            var written = new ByteArrayOutputStream();
            manifest.write(written);
            return written.toByteArray();
        }
        if (!entry.isOld()) {
            return entry.content;
        }
        return classes.transformClass(classes.parse(entry.content),
                ClassTransform.transformingMethodBodies(CodeTransform.ACCEPT_ALL)
                        .andThen(ClassTransform.endHandler(
                                to -> to.withVersion(ClassFile.JAVA_8_VERSION, 0))));
    }
}
