package lunar.it;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Compiles recipes in memory, as statements of a method, with the class path of the tests; and runs them. */
final class RecipeRunner {
    private static final String NAME = "Recipe";

    private final List<String> imports;

    RecipeRunner(List<String> imports) { this.imports = imports; }

    /**
     * Does what a recipe says, with assertions on.
     *
     * @return the lines it printed
     * @throws AssertionError if it does not compile; the message has the line of the document
     */
    List<String> run(Recipe recipe) throws Exception {
        var loader = new Loader(compile(recipe));
        loader.setDefaultAssertionStatus(true);
        var printed = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            loader.loadClass(NAME).getMethod("run").invoke(null);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception failure) {
                throw failure;
            }
            throw new AssertionError(recipe + " fails", e.getCause());
        } finally {
            System.setOut(before);
        }
        return printed.toString(StandardCharsets.UTF_8).lines().map(String::strip).toList();
    }

    private Map<String, ByteArrayOutputStream> compile(Recipe recipe) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var diagnostics = new DiagnosticCollector<JavaFileObject>();
        try (var classes = new Classes(
                compiler.getStandardFileManager(diagnostics, null, StandardCharsets.UTF_8))) {
            boolean good = compiler.getTask(null, classes, diagnostics,
                    List.of("-proc:none", "-classpath", System.getProperty("java.class.path")),
                    null, List.of(new Source(source(recipe)))).call();
            if (!good) {
                throw new AssertionError(recipe + " does not compile:\n"
                        + String.join("\n", diagnostics.getDiagnostics().stream()
                                .filter(each -> each.getKind() == Diagnostic.Kind.ERROR)
                                .map(each -> recipe.file() + ":" + each.getLineNumber() + ": "
                                        + each.getMessage(null))
                                .toList()));
            }
            return classes.compiled;
        }
    }

    /** All before the recipe is in one line, and the recipe in the lines that it has in its document. */
    private String source(Recipe recipe) {
        return String.join(" ", imports) + " public final class " + NAME
                + " { public static void run() throws Exception {"
                + "\n".repeat(recipe.line() - 1) + recipe.text() + "\n}}\n";
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String text) {
            super(URI.create("string:///" + NAME + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) { return text; }
    }

    /** Keeps what the compiler writes. */
    private static final class Classes extends ForwardingJavaFileManager<JavaFileManager> {
        private final Map<String, ByteArrayOutputStream> compiled = new HashMap<>();

        Classes(JavaFileManager others) { super(others); }

        @Override
        public JavaFileObject getJavaFileForOutput(Location location, String name,
                JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("memory:///" + name.replace('$', '-')),
                    kind) {
                @Override
                public OutputStream openOutputStream() {
                    var bytes = new ByteArrayOutputStream();
                    compiled.put(name, bytes);
                    return bytes;
                }
            };
        }
    }

    private static final class Loader extends ClassLoader {
        private final Map<String, ByteArrayOutputStream> compiled;

        Loader(Map<String, ByteArrayOutputStream> compiled) {
            super(RecipeRunner.class.getClassLoader());
            this.compiled = compiled;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            ByteArrayOutputStream found = compiled.get(name);
            if (found == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = found.toByteArray();
            return defineClass(name, bytes, 0, bytes.length);
        }
    }
}
