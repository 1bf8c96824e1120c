package lunar.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A fenced block of a document.
 *
 * @param language what follows the opening fence; empty if nothing does
 * @param firstLine number of its first line in the document, from 1
 * @param text its lines
 */
record MarkdownBlock(String language, int firstLine, String text) {
    private static final String FENCE = "```";

    static List<MarkdownBlock> of(Path document) throws IOException {
        var blocks = new ArrayList<MarkdownBlock>();
        List<String> lines = Files.readAllLines(document);
        int opening = -1;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (opening < 0 && line.startsWith(FENCE)) {
                opening = i;
            } else if (opening >= 0 && line.equals(FENCE)) {
                blocks.add(new MarkdownBlock(
                        lines.get(opening).strip().substring(FENCE.length()).strip(), opening + 2,
                        String.join("\n", lines.subList(opening + 1, i))));
                opening = -1;
            }
        }
        if (opening >= 0) {
            throw new IOException(
                    document + ": the block in line " + (opening + 1) + " has no end");
        }
        return blocks;
    }
}
