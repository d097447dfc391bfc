// Package stream runs agent programs that tell what they do as a stream of JSON
// lines. One supervisor starts the program, reads its lines in bounded memory,
// tells of each event at once, holds it to the limits of its task and names how
// it ended; what the lines of one program mean is for its Dialect, which touches
// nothing of the machine. It promises that an exit code alone is never success.
package stream
