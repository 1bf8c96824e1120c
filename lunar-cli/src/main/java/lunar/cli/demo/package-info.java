/** The demonstration: a volume over targets, with faults. */
@NullMarked
package lunar.cli.demo;

import org.jspecify.annotations.NullMarked;
