package lunar.cli;

import java.util.ArrayList;
import java.util.List;

/**
 * Splits shell text into commands and words: as much of the shell's grammar as documents use. Quotes, continued lines
 * and comments are understood; pipes, lists, {@code &} and redirections separate; variables stay as they are written.
 */
final class ShellWords {
    private static final String SEPARATORS = ";|&()\n";

    private final String text;
    private final List<Command> commands = new ArrayList<>();
    private final List<String> words = new ArrayList<>();
    private final StringBuilder word = new StringBuilder();
    private boolean inWord;
    private boolean isRedirected;
    private int line;
    private int commandLine;

    private ShellWords(String text) { this.text = text; }

    /**
     * A command.
     *
     * @param line line of its first word, from 0
     * @param words its words, without quotes
     */
    record Command(int line, List<String> words) {
        boolean isLunar() {
            return name() < words.size() && words.get(name()).matches("(\\./)?lunar");
        }

        List<String> arguments() { return words.subList(name() + 1, words.size()); }

        /** Returns the index of the command's name, after a shell prompt, {@code sudo} and variables. */
        private int name() {
            int at = 0;
            while (at < words.size()) {
                String word = words.get(at);
                if (word.equals("-u")) {
                    at += 2;
                } else if (word.matches("\\$|sudo|[A-Z_]+=.*")) {
                    at++;
                } else {
                    break;
                }
            }
            return at;
        }
    }

    static List<Command> commands(String text) { return new ShellWords(text).split(); }

    private List<Command> split() {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\'' || c == '"') {
                int end = text.indexOf(c, i + 1);
                if (end < 0) {
                    throw new IllegalArgumentException("unclosed quote in: " + text);
                }
                begin();
                word.append(text, i + 1, end);
                i = end;
            } else if (c == '\\' && i + 1 < text.length()) {
                i++;
                if (text.charAt(i) == '\n') {
                    line++;
                } else {
                    begin();
                    word.append(text.charAt(i));
                }
            } else if (c == '#' && !inWord) {
                int end = text.indexOf('\n', i);
                i = (end < 0 ? text.length() : end) - 1;
            } else if (c == '$' && text.startsWith("$(", i)) {
                int end = text.indexOf(')', i);
                begin();
                word.append(text, i, end + 1);
                i = end;
            } else if (c == '<' || c == '>') {
                endWord();
                isRedirected = true;
            } else if (SEPARATORS.indexOf(c) >= 0) {
                endCommand();
                if (c == '\n') {
                    line++;
                }
            } else if (Character.isWhitespace(c)) {
                endWord();
            } else {
                begin();
                word.append(c);
            }
        }
        endCommand();
        return commands;
    }

    private void begin() {
        if (words.isEmpty() && !inWord) {
            commandLine = line;
        }
        inWord = true;
    }

    /** Ends a word; the one after a redirection is the name of a file. */
    private void endWord() {
        if (inWord) {
            if (!isRedirected) {
                words.add(word.toString());
            }
            isRedirected = false;
        }
        word.setLength(0);
        inWord = false;
    }

    private void endCommand() {
        endWord();
        isRedirected = false;
        if (!words.isEmpty()) {
            commands.add(new Command(commandLine, List.copyOf(words)));
        }
        words.clear();
    }
}
