// gopacket's checksum as an adapter: go run .
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/gopacket/gopacket"
)

func main() {
	lines := bufio.NewReader(os.Stdin)
	for line, err := lines.ReadString('\n'); err == nil; line, err = lines.ReadString('\n') {
		words := strings.Fields(line)
		switch words[0] {
		case "hello":
			build, _ := debug.ReadBuildInfo()
			fmt.Println("gopacket", build.Deps[0].Version)
		case "sum":
			data, _ := hex.DecodeString(strings.Trim(words[1], "-"))
			fmt.Printf("%04x\n", gopacket.FoldChecksum(gopacket.ComputeChecksum(data, 0)))
		default:
			fmt.Println("unsupported")
		}
	}
}
