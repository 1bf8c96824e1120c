package lunar.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Java example in a Markdown file: a fenced code block with the language {@code java}. Its comments state its output,
 * one line each: {@code // prints hello}.
 *
 * @param file the Markdown file
 * @param line number of the first line of the code, from 1
 * @param chapter the heading above it
 * @param text the code
 */
record Recipe(Path file, int line, String chapter, String text) {
    private static final Pattern PRINTS = Pattern.compile("// prints (.*)");
    private static final Pattern IMPORT = Pattern.compile("(?m)^import [\\w.*]+;$");

    /** All that a file has. */
    static List<Recipe> of(Path file) throws IOException {
        var recipes = new ArrayList<Recipe>();
        List<String> lines = Files.readAllLines(file);
        String chapter = "";
        int start = -1;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (start >= 0 && line.equals("```")) {
                recipes.add(new Recipe(file, start + 1, chapter,
                        String.join("\n", lines.subList(start, i))));
                start = -1;
            } else if (line.equals("```java")) {
                start = i + 1;
            } else if (start < 0 && line.startsWith("#")) {
                chapter = line.replaceFirst("^#+ *", "");
            }
        }
        if (start >= 0) {
            throw new IllegalStateException(file + ":" + start + " has no end");
        }
        return recipes;
    }

    /** The import statements that a file lists. */
    static List<String> imports(Path file) throws IOException {
        return IMPORT.matcher(Files.readString(file)).results().map(found -> found.group())
                .toList();
    }

    /** Returns the output that it documents. */
    List<String> output() {
        Matcher comments = PRINTS.matcher(text);
        return comments.results().map(found -> found.group(1).strip()).toList();
    }

    /** Returns a copy with some words replaced, such as the port of a running target. */
    Recipe replacing(String words, String others) {
        return new Recipe(file, line, chapter, text.replace(words, others));
    }

    @Override
    public String toString() { return file.getFileName() + ":" + line + " " + chapter; }
}
